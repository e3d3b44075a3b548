import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import t from 'tap';
import type { Entry } from './entry.js';
import { curlCommand } from './repeat-command.js';

const run = promisify(execFile);

const entryOf = (given: Partial<Entry>): Entry => ({
  organization: undefined,
  operation: undefined,
  repository: undefined,
  subject: undefined,
  code: undefined,
  id: 'req-00000001',
  began: '2026-01-01T00:00:00.000Z',
  at: '2026-01-01T00:00:00.000Z',
  method: 'GET',
  path: '/',
  query: '',
  status: 200,
  origin: 'real',
  faults: [],
  why: [],
  outcome: 'complete',
  httpVersion: '1.1',
  request: { headers: [], bytes: 0 },
  answer: { headers: [], bytes: 0 },
  started: 1,
  duration: 1,
  ...given,
});

const ORIGIN = 'http://127.0.0.1:8080';

const sent = (headers: Entry['request']['headers'], text?: string | Buffer, truncated = false): Entry['request'] => {
  if (text === undefined) return { headers, bytes: 0 };
  const encoding = typeof text === 'string' ? 'utf8' : 'base64';
  return { headers, bytes: Buffer.byteLength(text), body: { text: text.toString(encoding), encoding, truncated } };
};

t.test('a plain request gives a short curl command', async (t) => {
  const { text, notes } = curlCommand(entryOf({ path: '/api/v1/repo' }), { origin: ORIGIN });
  t.equal(text, `curl -sS -i \\\n  ${ORIGIN}/api/v1/repo`);
  t.same(notes, []);
});

t.test('the redacted token is replaced by a newly minted or given one', async (t) => {
  const headers: Entry['request']['headers'] = [
    ['Host', '127.0.0.1:8080'],
    ['Authorization', '[redacted]'],
    ['X-Api-Key', '[redacted]'],
  ];
  const token = { scheme: 'bearer' as const, digest: '', verified: true, subject: "o'ne", repository: 'team/app' };
  const entry = entryOf({ organization: 'demo', token, request: sent(headers) });
  t.equal(
    curlCommand(entry, { origin: ORIGIN, scopes: ['repo:write'] }).text,
    [
      `TOKEN=$(npx emulator token --org=demo --repo=team/app --scopes=repo:write,git:read,git:write '--sub=o'\\''ne')`,
      'curl -sS -i \\',
      '  -H "Authorization: Bearer $TOKEN" \\',
      '  -H "X-Api-Key: $X_API_KEY" \\',
      `  ${ORIGIN}/`,
    ].join('\n'),
  );
  const basic = entryOf({ token: { ...token, scheme: 'basic' }, request: sent(headers) });
  t.match(curlCommand(basic, { origin: ORIGIN, token: 'eyJ' }).text, /^TOKEN=eyJ\ncurl [\s\S]* -u "t:\$TOKEN"/);
});

t.test('notes name the parts that differ from the original request', async (t) => {
  const cut = curlCommand(entryOf({ request: sent([], 'a', true) }), { origin: ORIGIN });
  t.match(cut.notes, [/first 64 KiB/]);
  const secret = curlCommand(entryOf({ query: 'token=[redacted]', request: sent([], '"[redacted]"') }), {
    origin: ORIGIN,
  });
  t.same(secret.notes, ['A secret was in the target and in the body: replace the marker [redacted].']);
});

const HOSTILE: readonly Partial<Entry>[] = [
  { path: '/a\'b$(id)`id`"|;&\\!/{x}[1-2]', query: "q='$HOME'&r=%27*" },
  { path: '/a/../b/./c//d' },
  { path: '//host/x' },
  { path: '/caf%C3%A9/#x' },
  { method: 'DELETE', path: '/x' },
  { method: 'HEAD', path: '/x' },
  { method: 'POST', path: '/x' },
  { method: 'GET', path: '/x', request: sent([['Content-Type', 'text/plain']], 'a body of GET') },
  { method: 'OPTIONS', path: '*' },
  {
    request: sent([
      ['X-Quote', `'"$(id)\`id\`\\ %s %% !x`],
      ['X-Bytes', 'caf\u00e9 \u0080 100% %s \\n'],
      ['X-Tab', 'a\tb'],
      ['X-Empty', ''],
      ['X-Twice', 'one'],
      ['X-Twice', 'two'],
      ['X-File', '@/etc/passwd'],
      ['User-Agent', 'git/2.39.5'],
      ['Accept', 'application/json'],
    ]),
  },
  { method: 'POST', request: sent([['Content-Type', 'application/json']], `{"a": "it's $HOME \`id\` \\\\ \\n"}`) },
  { method: 'POST', request: sent([], '@/etc/passwd') },
  { method: 'POST', request: sent([['Content-Type', 'text/plain']], '\nlines\n\nof\ttext\r\n') },
  { method: 'POST', request: sent([['Content-Type', 'text/plain']], 'hidden \u202e \u001b[31m \u0000 end') },
  { method: 'PUT', request: sent([['Content-Type', 'text/plain']], "'".repeat(64 * 1024)) },
  { method: 'POST', request: sent([['Content-Type', 'x/y']], Buffer.from(Array.from({ length: 512 }, (_, at) => at))) },
];

t.test('a real shell and a real curl repeat the request exactly, whatever its content', async (t) => {
  const seen: { readonly message: IncomingMessage; readonly body: Buffer }[] = [];
  const server = createServer(async (message, response) => {
    const parts: Buffer[] = [];
    for await (const part of message) parts.push(part as Buffer);
    seen.push({ message, body: Buffer.concat(parts) });
    response.end('');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  for (const shell of ['/bin/sh', '/bin/bash']) {
    for (const given of HOSTILE) {
      const entry = entryOf(given);
      const { text } = curlCommand(entry, { origin });
      await run(shell, ['-c', text]);
      const { message, body } = seen.pop()!;
      t.equal(message.method, entry.method, text);
      t.equal(message.url, entry.query === '' ? entry.path : `${entry.path}?${entry.query}`, text);
      const fields = Array.from({ length: message.rawHeaders.length / 2 }, (_, at) => {
        return [message.rawHeaders[2 * at], message.rawHeaders[2 * at + 1]];
      });
      const own = fields.filter(([name]) => !/^(?:host|connection|content-length|expect)$/i.test(name!));
      const added = own.filter(([name, value]) => !/^(?:user-agent|accept)$/i.test(name!) || !/^curl|^\*/.test(value!));
      t.strictSame(added.sort(), [...entry.request.headers].sort(), text);
      const { text: was = '', encoding = 'utf8' } = entry.request.body ?? {};
      t.ok(body.equals(Buffer.from(was, encoding)), `its ${body.length} bytes: ${text.slice(0, 200)}`);
    }
  }
  t.same(seen, []);
});
