import t from 'tap';
import { sameBytes, sameBytesBefore } from './same-bytes.js';

t.test('equal bytes are counted up to the first, or back to the last, different byte', (t) => {
  for (const size of [0, 1, 15, 16, 17, 31, 40, 4095, 4096, 4097, 8191, 8192, 12_345]) {
    for (const at of [0, 1, 14, 15, 16, 17, 30, 2047, 2048, 4095, 4096, 4100, 8192, 12_000, 12_344]) {
      if (at >= size) continue;
      const one = Buffer.alloc(size + 7, 'a');
      const other = Buffer.alloc(size + 3, 'a');
      other[3 + at] = 98;
      t.equal(sameBytes(one, 7, other, 3, size), at, `${at} of ${size}`);
      t.equal(
        sameBytesBefore(one, one.length, other, other.length, size),
        size - at - 1,
        `${at} of ${size}, backwards`,
      );
      t.equal(sameBytes(one, 7, other, 3, at), at, 'not beyond what was asked for');
      t.equal(sameBytesBefore(one, one.length, other, other.length, size - at - 1), size - at - 1);
    }
  }
  t.end();
});
