import t from 'tap';
import { runSync } from '../schedule/steps.js';
import { base64Steps } from './base64.js';
import { codeOf } from './test/code-of.js';

t.test('base64 is accepted only as RFC 4648 writes it', async (t) => {
  for (const text of ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar']) {
    t.equal(runSync(base64Steps(Buffer.from(text).toString('base64'), 'data')).toString(), text);
  }
  for (let byte = 0; byte < 256; byte++) {
    const one = Buffer.from([byte]);
    t.ok(runSync(base64Steps(one.toString('base64'), 'data')).equals(one));
  }
  const bad = [
    'a',
    'aGVs bG8=',
    'aGVs!bG8=',
    'aGVsbG8==',
    '_-8=',
    '====',
    'a===',
    '=aaa',
    'aa=a',
    'aGVsbG9=',
    'aGVsbH==',
    'data:,a',
    'aGVs\nbG8=',
  ];
  for (const data of bad)
    t.equal(
      codeOf(() => runSync(base64Steps(data, 'data'))),
      'bad_request',
      data,
    );
  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const taken = (data: string) => codeOf(() => runSync(base64Steps(data, 'data'))) === 'passed';
  const endings = (padding: string) =>
    [...ALPHABET].filter((last) => taken(`${'A'.repeat(3 - padding.length)}${last}${padding}`));
  t.equal(endings('==').join(''), 'AQgw', 'the last character of one byte has four unused bits');
  t.equal(endings('=').join(''), 'AEIMQUYcgkosw048', 'the last character of two bytes has two unused bits');
  const full = Buffer.alloc(4 * 1024 * 1024, 7);
  t.ok(
    runSync(base64Steps(full.toString('base64'), 'data')).equals(full),
    'a full 4 MiB chunk does not exhaust the stack',
  );
});
