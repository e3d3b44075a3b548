import t from 'tap';
import { GatheredBytes } from './gathered-bytes.js';

t.test('pieces of all sizes are returned as one buffer, which belongs to the caller', (t) => {
  const gathered = new GatheredBytes();
  t.equal(gathered.take().length, 0, 'an empty buffer returns no bytes');
  for (const sizes of [[0], [5], [5, 0, 1], [0, 5, 4091, 1], [4097, 1, 1], [1, 100_000, 1], [1, 1, 1, 4093, 1]]) {
    const pieces = sizes.map((size, n) => Buffer.alloc(size, n + 1));
    for (const piece of pieces) gathered.add(piece);
    const expected = Buffer.concat(pieces);
    t.equal(gathered.length, expected.length);
    const all = gathered.take();
    t.ok(all.equals(expected), sizes.join(' + '));
    t.equal(gathered.length, 0);
    // Add more bytes. They must not overwrite the bytes that were returned before, nor the pieces that were added.
    for (let n = 0; n < 10; n++) gathered.add(Buffer.alloc(1000, 99));
    t.equal(gathered.take().length, 10_000);
    t.ok(all.equals(expected), `${sizes.join(' + ')} are the caller’s`);
    t.ok(Buffer.concat(pieces).equals(expected));
  }
  t.end();
});

t.test('single bytes take at most twice their size in memory, and few copies', (t) => {
  const { allocUnsafeSlow } = Buffer;
  t.teardown(() => {
    Buffer.allocUnsafeSlow = allocUnsafeSlow;
  });
  let copies = 0;
  Buffer.allocUnsafeSlow = (size) => {
    copies++;
    return allocUnsafeSlow(size);
  };
  const count = 200_000;
  const gathered = new GatheredBytes();
  for (let n = 0; n < count; n++) gathered.add(Buffer.from([n]));
  const all = gathered.take();
  t.equal(all.length, count);
  t.ok(all.buffer.byteLength <= 2 * count, `${all.buffer.byteLength} bytes of memory`);
  t.ok(copies <= Math.log2(count), `${copies} copies`);
  t.end();
});
