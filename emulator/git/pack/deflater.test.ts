import { randomBytes } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import t from 'tap';
import { deflate } from './deflater.js';

t.test('bodies of every size are compressed to the same bytes as by zlib', async (t) => {
  for (const size of [0, 1, 63, 64, 65, 500, 4096, 70_000, 262_144, 1_000_000, 10]) {
    for (const body of [Buffer.alloc(size, 'a text that repeats itself '), randomBytes(size)]) {
      const stream = deflate(body);
      t.ok(inflateSync(stream).equals(body), `${size} bytes come back`);
      t.ok(stream.equals(deflateSync(body, { level: 3 })), `${size} bytes are the same stream`);
    }
  }
});

t.test('a compressed stream does not change while others are made', async (t) => {
  const body = randomBytes(5000);
  const stream = deflate(body);
  const copy = Buffer.from(stream);
  deflate(randomBytes(6000));
  t.ok(stream.equals(copy));
});
