import { deflateSync } from 'node:zlib';
import { oid } from '../../test/oid.js';
import { copy, delta, insert, PackBuilder } from './pack-builder.js';

export function build(fill: (pack: PackBuilder) => void, options?: Parameters<PackBuilder['build']>[0]): Buffer {
  const pack = new PackBuilder();
  fill(pack);
  return pack.build(options);
}

const BASE = 'twenty bytes of base';
/** Corrupt packs that the receiver must refuse, each with a pattern of the error message. The key names the defect. */
export const CORRUPT: Record<string, [Buffer, RegExp]> = {
  'another signature': [build((pack) => pack.whole('blob', 'x'), { magic: 'PACC' }), /signature mismatch/],
  'version 1': [build((pack) => pack.whole('blob', 'x'), { version: 1 }), /^pack version 1 unsupported$/],
  'version 4': [build((pack) => pack.whole('blob', 'x'), { version: 4 }), /version 4 unsupported/],
  'version 0xffffffff': [build((pack) => pack.whole('blob', 'x'), { version: 0xffffffff }), /unsupported/],
  'a count of 0 before an object': [build((pack) => pack.whole('blob', 'x'), { count: 0 }), /SHA1 mismatch|junk/],
  'one object fewer than there are': [
    build((pack) => [pack.whole('blob', 'x'), pack.whole('blob', 'y')], { count: 1 }),
    /SHA1 mismatch/,
  ],
  'one object more than there are': [build((pack) => pack.whole('blob', 'x'), { count: 2 }), /bad object|early EOF/],
  'a count of 2^32-1': [build((pack) => pack.whole('blob', 'x'), { count: 0xffffffff }), /limit of 5000000/],
  'a wrong checksum': [
    Buffer.concat([build((pack) => pack.whole('blob', 'x')).subarray(0, -1), Buffer.from('!')]),
    /pack is corrupted \(SHA1 mismatch\)/,
  ],
  'no checksum': [build((pack) => pack.whole('blob', 'x')).subarray(0, -20), /early EOF/],
  'bytes after the checksum': [
    Buffer.concat([build((pack) => pack.whole('blob', 'x')), Buffer.from('!')]),
    /pack has junk at the end/,
  ],
  'type 0': [build((pack) => pack.entry(0, 1, Buffer.alloc(0), deflateSync('x'))), /offset 12: unknown object type 0/],
  'type 5': [build((pack) => pack.entry(5, 1, Buffer.alloc(0), deflateSync('x'))), /unknown object type 5/],
  'a size beyond 2^63': [build((pack) => pack.raw(Buffer.alloc(12, 0xff))), /bad object header/],
  'a size that never ends': [build((pack) => pack.raw(Buffer.alloc(300, 0xbf))), /bad object header/],
  'a size of 2^40': [build((pack) => pack.whole('blob', 'x', 2 ** 40)), /exceeds the limit/],
  'a size larger than the object': [build((pack) => pack.whole('blob', 'abc', 4)), /serious inflate inconsistency/],
  'a size smaller than the object': [build((pack) => pack.whole('blob', 'abc', 2)), /serious inflate inconsistency/],
  'a size of 0 for an object with bytes': [build((pack) => pack.whole('blob', 'abc', 0)), /inflate/],
  'no zlib header': [
    build((pack) => pack.entry(3, 3, Buffer.alloc(0), Buffer.from('no zlib'))),
    /inflate returned -3 \(incorrect header check\)/,
  ],
  'a wrong zlib checksum': [
    build((pack) => {
      const stream = deflateSync('abc');
      stream[stream.length - 1]! ^= 1;
      pack.entry(3, 3, Buffer.alloc(0), stream);
    }),
    /inflate returned -3 \(incorrect data check\)/,
  ],
  'a zlib stream cut short': [
    build((pack) => pack.entry(3, 3, Buffer.alloc(0), deflateSync('abc').subarray(0, 6))),
    /inflate returned|early EOF/,
  ],
  'bytes between two entries': [
    build((pack) => [pack.raw(Buffer.from([0x31]), deflateSync('a'), Buffer.from('?')), pack.whole('blob', 'b')]),
    /./,
  ],
  'a distance of 0': [build((pack) => pack.ofsDelta(0, delta(1, 1, insert('x')))), /base offset is out of bound/],
  'a distance beyond the start': [build((pack) => pack.ofsDelta(900, delta(1, 1, insert('x')))), /out of bound/],
  'a distance that overflows': [
    build((pack) => pack.raw(Buffer.from([0x63]), Buffer.alloc(20, 0xff))),
    /offset value overflow for delta base object/,
  ],
  'a distance into the middle of an entry': [
    build((pack) => [pack.whole('blob', BASE), pack.ofsDelta(5, delta(BASE.length, 1, insert('x')))]),
    /out of bound/,
  ],
  'a base by id that nobody has': [
    build((pack) => pack.refDelta(oid('a'.repeat(40)), delta(1, 1, insert('x')))),
    /^pack has 1 unresolved delta$/,
  ],
  ...Object.fromEntries(
    Object.entries({
      'copies beyond the base': delta(BASE.length, 20, copy(1, 20)),
      'copies from far away': delta(BASE.length, 20, copy(0xfffffff0, 20)),
      'inserts beyond the result': delta(BASE.length, 3, insert('four')),
      'inserts bytes it does not have': delta(BASE.length, 9, [9, 1, 2]),
      'ends within a copy': delta(BASE.length, 20, [0xff, 0]),
      'has opcode 0': delta(BASE.length, 1, [0], insert('x')),
      'makes less than it says': delta(BASE.length, 9, insert('less')),
      'says another base size': delta(BASE.length + 1, 1, insert('x')),
      'goes on after its result': delta(BASE.length, 1, insert('x'), insert('y')),
      'has fewer than four bytes': delta(BASE.length, 0),
      'has no sizes': Buffer.alloc(0),
      'has a size that never ends': Buffer.alloc(60, 0xff),
    }).map(([title, bytes]): [string, [Buffer, RegExp]] => [
      `a delta that ${title}`,
      [build((pack) => pack.delta(pack.whole('blob', BASE), bytes)), /failed to apply delta/],
    ]),
  ),
};
