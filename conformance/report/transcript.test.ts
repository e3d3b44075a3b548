import { execFileSync } from 'node:child_process';
import t from 'tap';
import type { Exchange } from '../http/exchange.js';
import { targetAt } from '../test/test-server.js';
import { writeCurl } from './curl.js';
import { redact } from './redact.js';
import { quote } from './shell.js';
import { writeTranscript } from './transcript.js';

const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJkZW1vIn0.c2lnbmF0dXJlc2lnbmF0dXJl';

const EXCHANGE: Exchange = {
  rule: 'x',
  method: 'POST',
  origin: 'http://127.0.0.1:1',
  path: "/api/repos/a%2Fb?q='1'",
  requestHeaders: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
  requestBody: Buffer.from('{"a":"it\'s"}'),
  recipe: { repo: "a/b's", scopes: ['git:read'] },
  token: TOKEN,
  status: 400,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(`{"error":"bad ${TOKEN}"}`),
  milliseconds: 1,
  injected: false,
  git: false,
};

t.test('tokens and Basic credentials are removed from every text', async (t) => {
  t.equal(redact(`Bearer ${TOKEN}, again ${TOKEN}.`), 'Bearer <token>, again <token>.');
  t.equal(redact(`Basic ${Buffer.from(`t:${TOKEN}`).toString('base64')}`), 'Basic <credentials>');
  for (const user of ['t', 'me', 'you']) {
    const encoded = Buffer.from(`${user}:${TOKEN}`).toString('base64');
    t.equal(redact(`refused: ${encoded}, again ${encoded}`), 'refused: <credentials>, again <credentials>');
  }
  const other = Buffer.from('bytes of a file that are no credentials').toString('base64');
  t.equal(redact(other), other);
  t.notMatch(JSON.stringify(writeTranscript([EXCHANGE])), TOKEN);
});

t.test('megabytes of text without a credential do not exhaust the stack', async (t) => {
  for (const beginning of ['', 'eyJ', 'Basic ', 'http://', '-----BEGIN PRIVATE KEY-----']) {
    t.doesNotThrow(() => redact(beginning + 'A'.repeat(20_000_000)), beginning);
  }
});

t.test('binary bodies are shown as bytes', async (t) => {
  const [entry] = writeTranscript([{ ...EXCHANGE, body: Buffer.from([0, 1, 255]) }]);
  t.match(entry?.response, '0001ff (hex)');
});

t.test('a shell parses the curl command to the intended arguments', async (t) => {
  const target = { ...targetAt('http://127.0.0.1:1'), key: { ...targetAt('http://x').key, file: '/tmp/my key.pem' } };
  const line = writeCurl(EXCHANGE, target, 0) ?? '';
  t.notMatch(line, TOKEN);
  const stand = `npx() { for word in "$@"; do printf '[%s]' "$word"; done; }; curl() { for word in "$@"; do printf '%s\\n' "$word"; done; }; ${line}`;
  const words = execFileSync('sh', ['-c', stand], { encoding: 'utf8' }).split('\n');
  t.equal(words.at(-2), "http://127.0.0.1:1/api/repos/a%2Fb?q='1'");
  t.ok(words.includes('{"a":"it\'s"}'), 'the body');
  t.ok(
    words.some((word) => word.includes('[--key][/tmp/my key.pem]')),
    'the key file',
  );
  t.ok(
    words.some((word) => word.includes(`"repo":"a/b's"`)),
    'the recipe',
  );
});

t.test('words are quoted only if necessary', async (t) => {
  t.equal(quote('plain-word_1'), 'plain-word_1');
  t.equal(quote("it's"), `'it'\\''s'`);
  t.equal(quote(''), "''");
});
