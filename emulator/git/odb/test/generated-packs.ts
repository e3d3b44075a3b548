import { createHash } from 'node:crypto';
import { constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { randomNumbers } from '../../test/random-numbers.js';
import { copy, delta, insert, oidOf, PackBuilder } from './pack-builder.js';

// Generated pack with one defect or unusual property. Git itself would not write most of these packs. The same seed
// produces the same packs.

export interface GeneratedPack {
  /** Name of the defect, and the number of the round that produced the pack. */
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Text of a blob that the receiver already has. Generated thin packs, which omit the bases of some deltas, use this
 * blob as a base.
 */
export const KNOWN = 'a base that the receiver of the pack has already';

type Random = (below: number) => number;

interface Blob {
  readonly text: string;
  readonly start: number;
}

const NO_BASE = Buffer.alloc(0);
const BLOB_TYPE = 3;

/**
 * Pack under construction. It remembers the text and offset of each blob, so that later deltas can use the blob as a
 * base.
 */
class Draft {
  readonly pack = new PackBuilder();
  readonly blobs: Blob[] = [];

  constructor(readonly random: Random) {}

  /** Returns a text of up to 300 bytes that differs from all other blobs of the pack. */
  text(): string {
    const words = Array.from({ length: 1 + this.random(20) }, () => this.random(1 << 30).toString(36));
    return `${this.pack.count} ${words.join(' ')}`;
  }

  blob(text = this.text()): Blob {
    const blob = { text, start: this.pack.whole('blob', text) };
    this.blobs.push(blob);
    return blob;
  }

  pick(): Blob {
    return this.blobs[this.random(this.blobs.length)]!;
  }

  /**
   * Returns a new text and the delta that produces it from `base`. The text consists of parts of `base` and random
   * words.
   */
  change(base: string): { text: string; bytes: Buffer } {
    const parts: (Buffer | number[])[] = [];
    let text = '';
    for (let count = 1 + this.random(4); count > 0 && base !== ''; count--) {
      const from = this.random(base.length);
      const length = 1 + this.random(base.length - from);
      const added = this.random(1 << 30).toString(36);
      parts.push(copy(from, length), insert(added));
      text += base.slice(from, from + length) + added;
    }
    if (base === '') {
      text = this.text().slice(0, 100);
      parts.push(insert(text));
    }
    return { text, bytes: delta(base.length, text.length, ...parts) };
  }

  /** Appends a valid blob, tree or delta, chosen at random. */
  entry(): void {
    const way = this.random(6);
    if (way === 0) this.blob();
    else if (way === 1) this.tree();
    else {
      const base = this.pick();
      const { text, bytes } = this.change(way === 4 ? KNOWN : base.text);
      const start =
        way < 4
          ? this.pack.delta(base.start, bytes)
          : this.pack.refDelta(oidOf('blob', way === 4 ? KNOWN : base.text), bytes);
      this.blobs.push({ text, start });
    }
  }

  tree(): void {
    const name = `file-${this.pack.count}`;
    const { text } = this.pick();
    this.pack.whole('tree', Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(oidOf('blob', text), 'hex')]));
  }
}

type Defect = (draft: Draft) => void;

/**
 * Encodes a size like the sizes at the start of a delta, with 7 bits per byte. Appends `more` redundant continuation
 * bytes.
 */
function overlongSize(value: number, more: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; rest > 0 || bytes.length === 0; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  for (let count = 0; count < more; count++) bytes.push(0x80);
  bytes[bytes.length - 1]! &= 0x7f;
  return Buffer.from(bytes);
}

/** Functions that return a valid or broken delta for a base of `size` bytes. The key says what is unusual about it. */
const DELTAS: Record<string, (size: number, random: Random) => Buffer> = {
  'no bytes': () => Buffer.alloc(0),
  'the size of its base only': (size) => overlongSize(size, 0),
  'an empty result': (size) => delta(size, 0),
  'an empty result and one byte': (size, random) => delta(size, 0, [random(256)]),
  'an empty result, sizes too long': (size, random) =>
    Buffer.concat([overlongSize(size, random(3)), overlongSize(0, random(4))]),
  'a result size that goes on at its end': (size, random) =>
    Buffer.concat([overlongSize(size, 0), Buffer.alloc(1 + random(4), 0x80)]),
  'a base size that goes on at its end': (size) =>
    Buffer.concat([overlongSize(size, 2).map((byte) => byte | 0x80), Buffer.alloc(2, 0x80)]),
  'one byte': (size) => delta(size, 1, insert('x')),
  'sizes too long': (size, random) =>
    Buffer.concat([overlongSize(size, random(8)), overlongSize(1, random(8)), insert('x')]),
  'another base size': (size, random) => delta(size + 1 - random(2) * 2, 1, insert('x')),
  'a huge base size': (size) => Buffer.concat([overlongSize(size, 6), Buffer.from([0x81, 0x7f, 1]), insert('x')]),
  'a huge result size': (size) =>
    Buffer.concat([overlongSize(size, 0), Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), insert('x')]),
  'more than its result': (size, random) => delta(size, 3, insert('abcd'.slice(0, 3 + random(2))), insert('e')),
  'less than its result': (size, random) => delta(size, 5 + random(300), insert('abcd')),
  'operation 0 first': (size) => delta(size, 1, [0], insert('x')),
  'operation 0 last': (size) => delta(size, 1, insert('x'), [0]),
  'a copy beyond the base': (size, random) => delta(size, 4 + random(2), copy(size - 4, 4 + random(2))),
  'a copy from beyond the base': (size, random) => delta(size, 1, copy(size + random(2), 1)),
  'a copy from far beyond the base': (size) => delta(size, 1, copy(0xffffffff, 1)),
  'a copy of 0 bytes, which are 65,536': (size, random) => delta(size, random(2) * 0x10000, [0x90, 0]),
  'a copy without any parameter': (size, random) => delta(size, random(2) * 0x10000, [0x80]),
  'a copy of size byte 3': (size) => delta(size, 0x10000, [0xc0, 1]),
  'a copy that is cut': (size, random) => delta(size, 1, [0xff, 0, 0, 0, 0, 1, 0, 0].slice(0, 1 + random(8))),
  'an insert that is cut': (size, random) => delta(size, 9, [9, ...Buffer.alloc(random(10), 65)]),
  'a copy of everything': (size) => delta(size, size, copy(0, size)),
};

/** Functions that return a valid or broken zlib stream for `bytes`. The key says what is unusual about it. */
const STREAMS: Record<string, (bytes: Buffer, random: Random) => Buffer> = {
  'any level': (bytes, random) => deflateSync(bytes, { level: random(10) }),
  'a small window': (bytes, random) => deflateSync(bytes, { windowBits: 9 + random(7) }),
  'a flush inside': (bytes) => withEmptyBlocks(bytes),
  'raw deflate': (bytes) => deflateRawSync(bytes),
  gzip: (bytes) => gzipSync(bytes),
  'a dictionary': (bytes) => deflateSync(bytes, { dictionary: Buffer.from(KNOWN) }),
  'a byte after it': (bytes, random) => Buffer.concat([deflateSync(bytes), Buffer.from([random(256)])]),
  'another stream after it': (bytes) => Buffer.concat([deflateSync(bytes), deflateSync(bytes)]),
  'its end cut off': (bytes, random) => cut(deflateSync(bytes), 1 + random(6)),
  'another checksum': (bytes) => withLastByte(deflateSync(bytes), (last) => last ^ 1),
  'no bytes at all': () => Buffer.alloc(0),
  'an empty stream': () => deflateSync(''),
  'a block of a reserved type': () => Buffer.from([0x78, 1, 7, 0, 0, 0, 0, 1]),
  'a byte changed': (bytes, random) => {
    const stream = deflateSync(bytes);
    stream[random(stream.length)]! ^= 1 << random(8);
    return stream;
  },
};

const ENTRIES: Record<string, Defect> = {
  nothing: () => undefined,
  'type 0 or 5': ({ pack, random }) => pack.entry(random(2) * 5, 1, NO_BASE, deflateSync('x')),
  'a size too small': (draft) => declareSize(draft, (size, random) => size - 1 - random(size)),
  'a size too large': (draft) => declareSize(draft, (size, random) => size + 1 + random(300)),
  'a size of an empty blob': (draft) => declareSize(draft, () => 0),
  'a size written too long': ({ pack, random }) => {
    const rest = overlongSize(0, random(8));
    pack.raw(Buffer.concat([Buffer.from([0x80 | (BLOB_TYPE << 4) | 1]), rest]), deflateSync('x'));
  },
  'a size in more than 9 bytes': ({ pack, random }) =>
    pack.raw(Buffer.from([0x80 | (BLOB_TYPE << 4) | 1]), overlongSize(0, 8 + random(3)), deflateSync('x')),
  'a delta size too small or large': (draft) => {
    const base = draft.pick();
    const { bytes } = draft.change(base.text);
    draft.pack.delta(base.start, bytes, bytes.length + 1 - draft.random(2) * 2);
  },
  'an empty blob': (draft) => draft.blob(''),
  'a delta on an empty blob': (draft) => draft.pack.delta(draft.blob('').start, delta(0, 3, insert('abc'))),
  'a distance of 0': ({ pack }) => pack.ofsDelta(0, delta(1, 1, insert('x'))),
  'a distance to the start of the pack': ({ pack, random }) =>
    pack.ofsDelta(pack.length - random(13), delta(1, 1, insert('x'))),
  'a distance beyond the pack': ({ pack, random }) => pack.ofsDelta(5000 + random(1e9), delta(1, 1, insert('x'))),
  'a distance into an entry': (draft) => {
    const { text, start } = draft.pick();
    draft.pack.delta(start + 1 + draft.random(3), delta(text.length, 1, insert('x')));
  },
  'a distance that overflows': ({ pack, random }) =>
    pack.raw(
      Buffer.from([0x64]),
      Buffer.alloc(random(12), 0xff),
      Buffer.from([0x7f]),
      deflateSync(delta(1, 1, insert('x'))),
    ),
  'a base that nobody has': ({ pack }) => pack.refDelta(oidOf('blob', 'nobody has this'), delta(15, 1, insert('x'))),
  'itself as its base': ({ pack }) => pack.refDelta(oidOf('blob', 'itself'), delta(6, 6, insert('itself'))),
  'bases in a circle': ({ pack }) => {
    pack.refDelta(oidOf('blob', 'two'), delta(3, 3, insert('one')));
    pack.refDelta(oidOf('blob', 'one'), delta(3, 3, insert('two')));
  },
  'a base that comes later': (draft) => {
    const text = draft.text();
    draft.pack.refDelta(oidOf('blob', text), draft.change(text).bytes);
    draft.blob(text);
  },
  'a base that is a delta and comes later': (draft) => {
    const first = draft.change(KNOWN);
    draft.pack.refDelta(oidOf('blob', first.text), draft.change(first.text).bytes);
    draft.pack.refDelta(oidOf('blob', KNOWN), first.bytes);
  },
  'an object twice': (draft) => {
    const { text } = draft.pick();
    draft.pack.whole('blob', text);
  },
  'an object twice, once as a delta': (draft) => {
    const base = draft.pick();
    draft.pack.delta(base.start, delta(base.text.length, base.text.length, copy(0, base.text.length)));
  },
  'an object 200 times': (draft) => {
    const { text } = draft.pick();
    for (let count = 0; count < 199; count++) draft.pack.whole('blob', text);
  },
  'an object that the receiver has': (draft) => draft.blob(KNOWN),
  'an object twice that the receiver has': (draft) => [draft.blob(KNOWN), draft.pack.whole('blob', KNOWN)],
  'a base twice, by its id': (draft) => {
    const { text } = draft.pick();
    draft.pack.whole('blob', text);
    draft.pack.refDelta(oidOf('blob', text), draft.change(text).bytes);
  },
  'a tree with an entry that nobody has': ({ pack }) =>
    pack.whole('tree', Buffer.concat([Buffer.from('100644 name\0'), Buffer.alloc(20, 7)])),
  'a tree that is none': ({ pack, random }) => pack.whole('tree', '100644 name\0short'.slice(0, 1 + random(17))),
  'a commit that is none': ({ pack }) => pack.whole('commit', 'no commit'),
  'a tag that is none': ({ pack }) => pack.whole('tag', 'no tag'),
  ...Object.fromEntries(
    Object.entries(DELTAS).flatMap(([name, make]): [string, Defect][] => [
      [
        `a delta by distance: ${name}`,
        (draft) => {
          const base = draft.random(3) === 0 ? draft.blob('large base, '.repeat(30_000)) : draft.pick();
          draft.pack.delta(base.start, make(base.text.length, draft.random));
        },
      ],
      [
        `a delta by id: ${name}`,
        (draft) => {
          const base = draft.random(2) === 0 ? KNOWN : draft.pick().text;
          draft.pack.refDelta(oidOf('blob', base), make(base.length, draft.random));
        },
      ],
    ]),
  ),
  ...Object.fromEntries(
    Array.from({ length: 20 }, (_, index): [string, Defect] => [
      `a delta with a byte changed (${index})`,
      (draft) => {
        const base = draft.pick();
        const { bytes } = draft.change(base.text);
        bytes[draft.random(bytes.length)] = draft.random(256);
        draft.pack.delta(base.start, bytes);
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(STREAMS).map(([name, make]): [string, Defect] => [
      `a zlib stream: ${name}`,
      (draft) => {
        const bytes = Buffer.from(draft.text());
        draft.pack.entry(BLOB_TYPE, bytes.length, NO_BASE, make(bytes, draft.random));
      },
    ]),
  ),
};

/** Functions that build a pack with a wrong header, a wrong trailer, or one changed byte. The key names the defect. */
const ENVELOPES: Record<string, (draft: Draft) => Buffer> = {
  'one object fewer': ({ pack }) => pack.build({ count: pack.count - 1 }),
  'one object more': ({ pack }) => pack.build({ count: pack.count + 1 }),
  'many objects more': ({ pack, random }) => pack.build({ count: pack.count + random(1e6) }),
  'a version': ({ pack, random }) => pack.build({ version: random(6) }),
  'another signature': ({ pack }) => pack.build({ magic: 'PACC' }),
  'a byte after its checksum': ({ pack, random }) => Buffer.concat([pack.build(), Buffer.from([random(256)])]),
  'a pack after its checksum': ({ pack }) => Buffer.concat([pack.build(), pack.build()]),
  'another checksum': ({ pack }) => withLastByte(pack.build(), (last) => last ^ 1),
  'its end cut off': ({ pack, random }) => cut(pack.build(), 1 + random(60)),
  'no objects': ({ random }) => Buffer.concat([new PackBuilder().build(), Buffer.alloc(random(2))]),
  ...Object.fromEntries(
    Array.from({ length: 12 }, (_, index): [string, (draft: Draft) => Buffer] => [
      `a byte changed under its checksum (${index})`,
      ({ pack, random }) => {
        const bytes = pack.build();
        bytes[12 + random(bytes.length - 32)] = random(256);
        return sealed(bytes);
      },
    ]),
  ),
};

/** Yields `rounds` packs for each defect or unusual property. */
export function* generatedPacks(seed: number, rounds: number): Generator<GeneratedPack> {
  for (let round = 0; round < rounds; round++) {
    let index = 0;
    for (const [name, addDefect] of Object.entries(ENTRIES)) {
      const draft = new Draft(randomNumbers(seed + round * 1009 + index++ * 31));
      draft.blob();
      for (let before = draft.random(4); before > 0; before--) draft.entry();
      addDefect(draft);
      for (let after = draft.random(3); after > 0; after--) draft.entry();
      yield { name: `${name}, round ${round}`, bytes: draft.pack.build() };
    }
    for (const [name, build] of Object.entries(ENVELOPES)) {
      const draft = new Draft(randomNumbers(seed + round * 1009 + index++ * 31));
      draft.blob();
      for (let count = draft.random(6); count > 0; count--) draft.entry();
      yield { name: `${name}, round ${round}`, bytes: build(draft) };
    }
  }
}

/** Appends a blob whose entry header declares a wrong size. `sizeOf` returns that size for the real size. */
function declareSize(draft: Draft, sizeOf: (size: number, random: Random) => number): void {
  const text = draft.text();
  draft.pack.whole('blob', text, sizeOf(text.length, draft.random));
}

/** Returns a zlib stream of `bytes` with an empty block in the middle, as a flush of the compressor writes it. */
function withEmptyBlocks(bytes: Buffer): Buffer {
  const half = Buffer.from(bytes.subarray(0, bytes.length >> 1));
  const flushed = deflateSync(half, { finishFlush: constants.Z_FULL_FLUSH });
  const checksum = deflateSync(bytes).subarray(-4);
  return Buffer.concat([flushed, deflateRawSync(bytes.subarray(half.length)), checksum]);
}

function withLastByte(bytes: Buffer, change: (last: number) => number): Buffer {
  bytes[bytes.length - 1] = change(bytes[bytes.length - 1]!);
  return bytes;
}

function cut(bytes: Buffer, count: number): Buffer {
  return bytes.subarray(0, Math.max(0, bytes.length - count));
}

/** Returns the pack with its trailer replaced by the SHA-1 of its current bytes. */
function sealed(pack: Buffer): Buffer {
  const bytes = pack.subarray(0, -20);
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]);
}
