import { inflateSync } from 'node:zlib';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { deflate } from './deflate.js';
import { RandomText } from './test/random-text.js';

const UNIT = 128 * 1024;

t.test('what is deflated in steps is one zlib stream, as short as one made at once', (t) => {
  const random = new RandomText(3);
  const noise = Buffer.from(Array.from({ length: 3 * UNIT + 5 }, () => random.below(256)));
  for (const size of [0, 1, UNIT - 1, UNIT, UNIT + 1, 2 * UNIT, 3 * UNIT + 5]) {
    t.ok(inflateSync(runSync(deflate(noise.subarray(0, size)))).equals(noise.subarray(0, size)), `${size} bytes`);
  }
  const far = noise.subarray(0, 20_000);
  const repeated = Buffer.concat(Array.from({ length: 40 }, () => far));
  const deflated = runSync(deflate(repeated));
  t.ok(inflateSync(deflated).equals(repeated));
  t.ok(deflated.length < 2.5 * far.length, `${deflated.length} bytes refer to the piece before`);
  const full = Buffer.alloc(4 * UNIT, 0xff);
  t.ok(inflateSync(runSync(deflate(full))).equals(full), 'the largest sums');
  t.end();
});
