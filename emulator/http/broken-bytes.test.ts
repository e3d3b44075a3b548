import t from 'tap';
import { type CutPlace, cutBytes, flipByte, sliced, throttle } from './broken-bytes.js';

const WHOLE = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
/** Sizes in bytes of the pieces in which the bytes are sent. Each size must give the same result. */
const SIZES = [1, 7, 250, 999, 1000, 5000];

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

const PLACES: readonly (readonly [CutPlace, number])[] = [
  [{ bytes: 0 }, 0],
  [{ bytes: 1 }, 1],
  [{ bytes: 250 }, 250],
  [{ bytes: 1000 }, 1000],
  [{ bytes: 5000 }, 1000],
  [{ fraction: 0 }, 0],
  [{ fraction: 0.3335 }, 333],
  [{ fraction: 1 }, 1000],
  [{ beforeEnd: 20 }, 980],
  [{ beforeEnd: 5000 }, 0],
];

for (const [place, length] of PLACES) {
  t.test(`a cut at ${JSON.stringify(place)} leaves ${length} bytes`, async (t) => {
    for (const size of SIZES) t.same(await read(cutBytes(inPieces(WHOLE, size), place)), WHOLE.subarray(0, length));
  });
}

t.test('a cut stops reading at its place', async (t) => {
  let read = 0;
  const source = async function* () {
    for (;;) {
      read++;
      yield Buffer.alloc(10);
    }
  };
  for await (const _ of cutBytes(source(), { bytes: 15 }));
  t.equal(read, 2);
});

for (const [offset, place] of [
  [0, 0],
  [499, 499],
  [999, 999],
  [1000, 999],
  [undefined, 500],
] as const) {
  t.test(`byte ${offset} is flipped, and no other`, async (t) => {
    const expected = Buffer.from(WHOLE);
    expected[place]! ^= 0xff;
    for (const size of SIZES)
      t.same(await read(flipByte(inPieces(WHOLE, size), offset)), expected, `pieces of ${size}`);
    t.equal(WHOLE[place], place % 251, 'in a copy');
  });
}

t.test('an empty payload has no byte to flip', async (t) => {
  t.same(await read(flipByte(inPieces(Buffer.alloc(0), 1))), Buffer.alloc(0));
});

t.test('a throttled payload is sent unchanged, in slices', async (t) => {
  const sizes: number[] = [];
  const source = throttle(inPieces(WHOLE, 1000), 4000);
  const seen: Uint8Array[] = [];
  for await (const slice of source) {
    sizes.push(slice.length);
    seen.push(slice);
  }
  t.same(Buffer.concat(seen), WHOLE);
  t.same(sizes, [200, 200, 200, 200, 200]);
  for await (const slice of throttle(inPieces(WHOLE.subarray(0, 5), 5), 19)) t.equal(slice.length, 1);
});

t.test('a sliced payload is sent unchanged, in pieces of the given size', async (t) => {
  for (const pause of [0, 1]) {
    const seen: Uint8Array[] = [];
    for await (const piece of sliced(inPieces(WHOLE, 400), { size: 150, pause })) seen.push(piece);
    t.same(Buffer.concat(seen), WHOLE);
    t.same(
      seen.map(({ length }) => length),
      [150, 150, 100, 150, 150, 100, 150, 50],
    );
  }
});
