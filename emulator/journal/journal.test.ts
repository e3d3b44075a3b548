import t from 'tap';
import { Journal, type JournalOptions } from './journal.js';
import type { RequestRecord } from './record.js';
import { bodyOf, recordOf } from './test/record.js';

function journalOf(options: Partial<JournalOptions> = {}): Journal {
  return new Journal({ entries: 1000, bytes: 1_000_000, key: Buffer.from('key'), ...options });
}

function fill(journal: Journal, from: number, to: number, given: Partial<RequestRecord> = {}): void {
  for (let id = from; id <= to; id++) {
    const record = recordOf(id, given);
    journal.add(record);
    journal.end(record, 'complete');
  }
}

const ids = (journal: Journal) => [...journal.entries()].map(({ id }) => Number(id.slice(4)));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

t.test('the oldest requests are dropped and counted when the maximum number is exceeded', async (t) => {
  for (const entries of [1, 31, 32, 33, 100]) {
    const journal = journalOf({ entries });
    for (const to of [1, 15, 16, 17, 32, 33, 65, 200]) {
      fill(journal, journal.ended + 1, to);
      const kept = Math.min(to, entries);
      t.same(ids(journal), range(to - kept + 1, to), `${to} requests, limit ${entries}`);
      t.equal(journal.dropped, to - kept);
      t.equal(journal.snapshot().weight, 100 * kept);
    }
    t.equal(journal.entry('req-00000200')?.id, 'req-00000200');
    t.equal(journal.entry('req-00000001'), undefined);
  }
});

t.test('the oldest requests are dropped when the maximum size, including bodies, is exceeded', async (t) => {
  const journal = journalOf({ bytes: 2_000 });
  fill(journal, 1, 3);
  const large = recordOf(4, { method: 'POST', body: bodyOf('x'.repeat(1_000)) });
  journal.add(large);
  t.same(ids(journal), [1, 2, 3, 4]);
  journal.end(large, 'complete');
  t.equal(journal.snapshot().weight, 1_400);
  const answered = recordOf(5, { response: 'y'.repeat(600) });
  journal.add(answered);
  journal.end(answered, 'complete');
  t.same(ids(journal), [2, 3, 4, 5]);
  t.equal(journal.snapshot().weight, 2_000);
  const huge = recordOf(6, { response: bodyOf(Buffer.alloc(5_000)) });
  journal.add(huge);
  journal.end(huge, 'complete');
  t.same(ids(journal), [], 'a request larger than the limit is dropped itself');
  t.equal(journal.snapshot().weight, 0);
  t.equal(journal.dropped, 6);
  fill(journal, 7, 8);
  t.same(ids(journal), [7, 8]);
});

t.test('a snapshot shares requests with the journal, and later requests do not affect it', async (t) => {
  for (const before of [0, 1, 15, 16, 17, 32, 70]) {
    const journal = journalOf({ entries: 80 });
    fill(journal, 1, before);
    const snapshot = journal.snapshot();
    t.ok(snapshot.blocks.length <= 1 + before / 16, 'the snapshot refers to blocks');
    fill(journal, before + 1, before + 50);
    const restored = journalOf({ entries: 80 });
    restored.restore(snapshot);
    t.same(ids(restored), range(1, before), `after ${before}`);
    const first = [...restored.records()][0];
    if (first && before < 30) t.equal(first, [...journal.records()][0], 'the records are shared');
    fill(restored, 1_001, 1_040);
    t.same(ids(journal), range(Math.max(1, before + 50 - 79), before + 50), 'the original journal is unchanged');
    const all = [...range(1, before), ...range(1_001, 1_040)];
    t.same(ids(restored), all.slice(-80));
    const again = journalOf({ entries: 80 });
    again.restore(snapshot);
    t.same(ids(again), range(1, before), 'a snapshot never changes');
  }
});

t.test('the outcome of a response is recorded once, and bodies are shown after it', async (t) => {
  const journal = journalOf();
  const record = recordOf(1, { method: 'POST', body: bodyOf('{"a":', '1}'), response: 'text' });
  journal.add(record);
  t.match(journal.entry(record.id), {
    outcome: 'open',
    request: { bytes: 7, body: undefined },
    answer: { body: undefined },
  });
  journal.end(record, 'cut');
  journal.end(record, 'complete');
  t.match(journal.entry(record.id), {
    outcome: 'cut',
    request: { bytes: 7, body: { text: '{"a":1}', encoding: 'utf8', truncated: false } },
    answer: { bytes: 4, body: { text: 'text', truncated: false } },
  });
  t.equal(journal.ended, 1);
});

t.test('the first 64 KiB of a body are stored, in whole characters; binary data is shown as base64', async (t) => {
  const journal = journalOf();
  const show = (record: RequestRecord) => {
    journal.add(record);
    journal.end(record, 'complete');
    return journal.entry(record.id)!.answer;
  };
  const euros = show(recordOf(1, { response: '€'.repeat(30_000) }));
  t.equal(euros.bytes, 90_000);
  t.equal(euros.body!.truncated, true);
  t.equal(euros.body!.text, '€'.repeat(Math.floor(65_536 / 3)));
  const pieces = show(recordOf(2, { response: bodyOf(...Array(70).fill(Buffer.alloc(1_000, 'a'))) }));
  t.equal(pieces.bytes, 70_000);
  t.equal(pieces.body!.text, 'a'.repeat(65_536));
  const binary = show(recordOf(3, { response: bodyOf(Buffer.from([0xff, 0, 0xfe])) }));
  t.same(binary.body, { text: '/wD+', encoding: 'base64', truncated: false });
  const head = show(recordOf(4, { method: 'HEAD', response: 'text' }));
  t.same([head.bytes, head.body], [0, undefined]);
});

t.test('retryOf is the last failed request with the same client, target and body', async (t) => {
  const token = { scheme: 'bearer', digest: 'd', verified: true, subject: 's', repository: 'r' } as const;
  const post = { method: 'POST', operation: 'commitPack', path: '/p', token } as const;
  const failed = { ...post, status: 503, code: 'service_unavailable' };
  const length = (value: string) => ({ fields: ['Content-Length', value], weight: 0 });
  const cases: [string, Partial<RequestRecord>, Partial<RequestRecord>, boolean][] = [
    ['the same', failed, post, true],
    ['another token of the same client', failed, { ...post, token: { ...token, digest: 'e' } }, true],
    ['the same body', { ...failed, body: bodyOf('b') }, { ...post, body: bodyOf('b') }, true],
    ['a successful request', post, post, false],
    ['a truncated response', { ...post, outcome: 'cut' }, post, true],
    ['another body', { ...failed, body: bodyOf('b') }, { ...post, body: bodyOf('c') }, false],
    [
      'a body that was not read, of the same length',
      { ...failed, head: length('1') },
      { ...post, head: length('1'), body: bodyOf('b') },
      true,
    ],
    [
      'a body that was not read, of another length',
      { ...failed, head: length('2') },
      { ...post, head: length('1'), body: bodyOf('b') },
      false,
    ],
    ['another path', failed, { ...post, path: '/q' }, false],
    ['another query', failed, { ...post, query: 'a' }, false],
    ['another method', failed, { ...post, method: 'PUT' }, false],
    ['another client', failed, { ...post, token: { ...token, subject: 'x' } }, false],
    ['another repository', failed, { ...post, token: { ...token, repository: 'x' } }, false],
    ['another organization', failed, { ...post, organization: 'x' }, false],
  ];
  const response = (journal: Journal, id: number, given: Partial<RequestRecord> = {}) => {
    const record = recordOf(id, { started: id, ...given });
    journal.add(record);
    journal.end(record, given.outcome ?? 'complete');
  };
  for (const [name, first, second, isRetry] of cases) {
    const journal = journalOf();
    response(journal, 1, first);
    response(journal, 2, { path: '/between' });
    response(journal, 3, second);
    const [, between, last] = [...journal.entries()];
    t.equal(between!.retryOf, undefined, name);
    t.equal(last!.retryOf, isRetry ? 'req-00000001' : undefined, name);
    t.equal(journal.entry('req-00000003')!.retryOf, last!.retryOf, `${name}: also when read alone`);
  }
  const chain = journalOf();
  for (const id of [1, 2, 3]) response(chain, id, failed);
  t.same(
    [...chain.entries()].map(({ retryOf }) => retryOf),
    [undefined, 'req-00000001', 'req-00000002'],
    'a chain',
  );
  const concurrent = journalOf();
  response(concurrent, 1, { ...failed, started: 0, micros: 10_000 });
  response(concurrent, 2, { ...failed, started: 9, micros: 5_000 });
  response(concurrent, 3, { ...failed, started: 12, micros: 1_000 });
  concurrent.add(recordOf(4, { ...failed, started: 20 }));
  response(concurrent, 5, { ...failed, started: 30 });
  const repeated = [undefined, undefined, 'req-00000001', 'req-00000003', 'req-00000003'];
  t.same(
    [...concurrent.entries()].map(({ retryOf }) => retryOf),
    repeated,
    'a request that began before the response ended is not a retry',
  );
  t.same(
    [1, 2, 3, 4, 5].map((id) => concurrent.entry(`req-0000000${id}`)!.retryOf),
    repeated,
  );
  const succeeded = journalOf();
  const success = { ...failed, status: 200 };
  response(succeeded, 1, failed);
  response(succeeded, 2, failed);
  response(succeeded, 3, { ...success, started: 10, micros: 5_000 });
  response(succeeded, 4, { ...success, started: 12, micros: 5_000 });
  response(succeeded, 5, { ...success, started: 20 });
  response(succeeded, 6, { ...failed, started: 30 });
  response(succeeded, 7, { ...success, started: 40 });
  response(succeeded, 8, { ...success, started: 41, body: bodyOf('other') });
  t.same(
    [...succeeded.entries()].map(({ retryOf }) => retryOf),
    [undefined, 'req-00000001', 'req-00000002', 'req-00000002', undefined, undefined, 'req-00000006', undefined],
    'a request that began after a retry had succeeded is not a retry',
  );
});

t.test(
  'secrets are removed when the response ends, and bodies with different secrets remain distinguishable',
  async (t) => {
    const journal = journalOf();
    const put = (id: number, password: string) =>
      recordOf(id, {
        started: id,
        method: 'PUT',
        operation: 'updateCredential',
        status: 503,
        body: bodyOf(JSON.stringify({ username: 'ada', password, nested: { password } })),
      });
    for (const record of [put(1, 'canary-1'), put(2, 'canary-2'), put(3, 'canary-1')]) {
      journal.add(record);
      journal.end(record, 'complete');
    }
    const entries = [...journal.entries()];
    t.notMatch(JSON.stringify([entries, [...journal.records()]]), /canary|ada/);
    t.match(entries[0]!.request.body!.text, /"password":"\[redacted\]"/);
    t.same(
      entries.map(({ retryOf }) => retryOf),
      [undefined, undefined, 'req-00000001'],
    );
    const broken = recordOf(4, { operation: 'createWebhook', body: bodyOf('{"secret": "canary-3') });
    journal.add(broken);
    journal.end(broken, 'complete');
    t.equal(journal.entry(broken.id)!.request.body!.text, '[redacted]', 'a body that cannot be parsed is not stored');
    const answered = recordOf(5, { operation: 'createWebhook', response: '{"id":"w","secret":"canary-4"}' });
    journal.add(answered);
    journal.end(answered, 'complete');
    t.equal(journal.entry(answered.id)!.answer.body!.text, '{"id":"w","secret":"[redacted]"}');
  },
);

t.test('a cleared journal is empty, and sequence numbers continue', async (t) => {
  const journal = journalOf({ entries: 40 });
  fill(journal, 1, 60);
  journal.clear();
  t.same([ids(journal), journal.size, journal.dropped, journal.snapshot().weight], [[], 0, 0, 0]);
  fill(journal, 61, 62);
  t.same(ids(journal), [61, 62]);
  t.equal(journal.ended, 62);
});
