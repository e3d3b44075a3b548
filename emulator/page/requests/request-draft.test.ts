import t from 'tap';
import type { Entry } from './entry.js';
import { bodyOfDraft, draftOf, notesOf, obstacleOf, readHeaders, urlOfDraft } from './request-draft.js';

interface Given {
  readonly method?: string;
  readonly operation?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: { text: string; encoding?: 'utf8' | 'base64'; truncated?: boolean };
  readonly bytes?: number;
}

function entryOf({ method = 'POST', operation = 'commitFiles', headers = [], body, bytes }: Given): Entry {
  const shown = body && { encoding: 'utf8', truncated: false, ...body };
  const request = { headers, ...(shown && { body: shown }), bytes: bytes ?? body?.text.length ?? 0 };
  return { method, operation, path: '/api/v1/repo', query: 'a=1', request } as unknown as Entry;
}

t.test('the form has the recorded request without what the browser or the new token replaces', async (t) => {
  const headers = [
    ['Host', 'a'],
    ['Authorization', '[redacted]'],
    ['X-Own', 'b: c'],
    ['Sec-Fetch-Mode', 'cors'],
  ] as const;
  t.match(draftOf(entryOf({ headers, body: { text: '{}' } })), {
    method: 'POST',
    path: '/api/v1/repo',
    query: 'a=1',
    headers: 'X-Own: b: c',
    body: '{}',
    source: 'new',
  });
  t.match(draftOf(entryOf({})), { body: '', source: 'none' });
  t.equal(draftOf(entryOf({ body: { text: '/w==', encoding: 'base64' } })).body, undefined);
  t.match(notesOf(entryOf({ headers })), [/such as Host, Sec-Fetch-Mode\.$/, /its claims are unknown/]);
});

t.test('requests that the page cannot send again are named', async (t) => {
  for (const [given, sentence] of [
    [{ operation: 'gitReceivePack' }, /push cannot be sent again.*git push/],
    [{ operation: 'gitUploadPack' }, /fetch cannot be sent again/],
    [{ method: 'TRACE' }, /refuse to send the method TRACE/],
    [{ bytes: 7 }, /does not store the body.*7 bytes/],
    [
      { body: { text: '/w==', encoding: 'base64', truncated: true }, bytes: 99 },
      /binary.*first 64 KiB of its 99 bytes/,
    ],
  ] as const) {
    t.match(obstacleOf(entryOf(given)), sentence);
  }
  t.equal(obstacleOf(entryOf({ method: 'GET', operation: 'gitAdvertiseRefs' })), undefined);
  t.equal(obstacleOf(entryOf({ body: { text: 'a', truncated: true } })), undefined);
});

t.test('headers are lines, and secrets have to be replaced', async (t) => {
  t.same(
    [...readHeaders('A: 1\n\na: 2\nEmpty:\n')],
    [
      ['a', '1, 2'],
      ['empty', ''],
    ],
  );
  t.throws(() => readHeaders('A: 1\nnonsense'), /"nonsense" is invalid.*Name: value/);
  t.throws(() => readHeaders('X-Api-Key: [redacted]'), /X-Api-Key has \[redacted\] in place of a secret/);
  t.throws(() => readHeaders('A: \u2603'), /not allowed in HTTP/);
});

t.test('a path that a browser would change is refused', async (t) => {
  const origin = 'http://127.0.0.1:1';
  const draft = { ...draftOf(entryOf({})), query: '' };
  t.equal(urlOfDraft({ ...draft, path: '/a%2Fb', query: "q=it's#x" }, origin).href, `${origin}/a%2Fb?q=it%27s%23x`);
  for (const [path, sentence] of [
    ['/a/../b', /would send the path \/b/],
    ['/a/%2e%2e/b', /would send the path \/b/],
    ['a', /must begin with a slash/],
    ['/a?b', /must not contain/],
    ['/\u00e9', /not visible ASCII/],
    ['/_emulator/reset', /admin API/],
    ['/[redacted]', /in place of a secret/],
  ] as const) {
    t.throws(() => urlOfDraft({ ...draft, path }, origin), sentence);
  }
});

t.test('a body is sent as recorded, as edited, or not at all', async (t) => {
  const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
  const ndjson = entryOf({ body: { text: '{"a":1}\r\n{"b":2}\n' } });
  t.equal(text(bodyOfDraft(ndjson, draftOf(ndjson))), '{"a":1}\r\n{"b":2}\n');
  t.equal(text(bodyOfDraft(ndjson, { ...draftOf(ndjson), body: 'x' })), 'x');
  t.equal(bodyOfDraft(ndjson, { ...draftOf(ndjson), body: '' }), undefined);
  const binary = entryOf({ body: { text: '/wA=', encoding: 'base64' } });
  t.same([...bodyOfDraft(binary, draftOf(binary))!], [255, 0]);
  const cut = entryOf({ body: { text: 'ab', truncated: true }, bytes: 99 });
  t.throws(() => bodyOfDraft(cut, draftOf(cut)), /first 64 KiB of the body, which had 99 bytes\. Complete it first/);
  t.equal(text(bodyOfDraft(cut, { ...draftOf(cut), body: 'abc' })), 'abc');
  t.match(notesOf(cut), [/browser/, /Complete it before you send it/]);
  t.throws(() => bodyOfDraft(ndjson, { ...draftOf(ndjson), method: 'GET' }), /refuse to send a body with GET/);
  t.throws(() => bodyOfDraft(ndjson, { ...draftOf(ndjson), body: '"[redacted]"' }), /The body has \[redacted\]/);
});
