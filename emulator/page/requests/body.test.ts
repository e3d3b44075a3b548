import t from 'tap';
import { hexLines, readBody } from './body.js';

t.test('JSON is indented, other text is unchanged, and binary bodies are shown as bytes', async (t) => {
  const utf8 = (text: string, truncated = false) => readBody({ text, encoding: 'utf8', truncated });
  t.same(utf8('{"a":[1,"é"]}'), { kind: 'json', text: '{\n  "a": [\n    1,\n    "é"\n  ]\n}' });
  t.same(utf8('{"a":1', true), { kind: 'text', text: '{"a":1' }, 'of a part nothing is known');
  t.same(utf8('{"a":1}\n{"a":2}'), { kind: 'text', text: '{"a":1}\n{"a":2}' });
  t.same(utf8('12'), { kind: 'text', text: '12' });
  t.same(utf8('\0\0\0a'), { kind: 'binary', bytes: Uint8Array.of(0, 0, 0, 97) });
  t.same(readBody({ text: '/wCA', encoding: 'base64', truncated: false }), {
    kind: 'binary',
    bytes: Uint8Array.of(255, 0, 128),
  });
});

t.test('bytes are printed in lines of sixteen', async (t) => {
  for (const length of [0, 1, 8, 9, 16, 17, 40]) {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 37) % 256));
    const columns = hexLines(bytes)
      .split('\n')
      .map((line) => line.slice(10, 58).replaceAll(' ', ''));
    t.equal(columns.join(''), bytes.toString('hex'));
  }
  t.equal(hexLines(Buffer.from('ab\n')), '00000000  61 62 0a                                          |ab.|');
});
