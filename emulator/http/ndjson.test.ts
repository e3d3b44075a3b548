import t from 'tap';
import { readLines } from './ndjson.js';

t.test('a body is split into lines wherever its chunks end', async (t) => {
  const split = async (text: string, size: number, limit = 100): Promise<string[]> => {
    const body = Buffer.from(text);
    const chunks = (async function* () {
      for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
    })();
    const lines: string[] = [];
    for await (const line of readLines(chunks, () => limit)) lines.push(line.toString());
    return lines;
  };
  for (const size of [1, 2, 3, 100]) {
    t.same(await split('{"a":1}\r\n\n{"b":"\u00e9"}', size), ['{"a":1}', '{"b":"\u00e9"}'], `chunks of ${size}`);
  }
  await t.rejects(split('x'.repeat(101), 7), { code: 'bad_request' });
  t.same(await split(`${'x'.repeat(100)}\n`, 7), ['x'.repeat(100)], 'a line of exactly the limit passes');
  await t.rejects(split('\n'.repeat(1_002), 64), { code: 'bad_request' }, 'the number of blank lines is limited');
});
