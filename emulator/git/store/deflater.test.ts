import { inflateSync } from 'node:zlib';
import t from 'tap';
import { createDeflater, HandleDeflater, PlainDeflater } from './deflater.js';

t.test('this Node has what the fast deflater needs', async (t) => {
  t.ok(createDeflater() instanceof HandleDeflater);
});

t.test('both deflate bodies of every size into the same streams', async (t) => {
  const [fast, plain] = [new HandleDeflater(), new PlainDeflater()];
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, at) => Math.imul(at * at, 2_654_435_761) >>> 24));
  for (const source of [noise, Buffer.alloc(300_000, 'a body ')]) {
    for (const size of [0, 1, 500, 70_000, 128 * 1024 - 1, 128 * 1024, 300_000, 10]) {
      const body = source.subarray(0, size);
      const stream = await fast.deflate(body);
      t.ok(inflateSync(stream).equals(body), `${size}`);
      t.ok(stream.equals(await plain.deflate(body)));
    }
  }
});
