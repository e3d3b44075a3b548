import { createHash } from 'node:crypto';
import { OID_BYTES } from '../git/object/oid-slots.js';
import type { ObjectStore } from '../git/odb/object-store.js';
import { describePack } from '../git/pack-objects/pack-index.js';
import { COST } from '../schedule/cost.js';
import type { Meter } from '../schedule/meter.js';
import { DRAFT, type FolderWrites } from './folder-writes.js';

/**
 * Pack file in a `--persist` folder (in which the emulator saves its state). Contains exactly the objects in one range
 * of object numbers. Object numbers are indices into the tables of the object store.
 */
export interface KeptPack {
  /** SHA-1 in the names of the pack's files, `pack-<SHA-1>.pack` and `pack-<SHA-1>.idx`. */
  readonly checksum: string;
  /** Range of object numbers: from `from` (inclusive) to `to` (exclusive). */
  readonly from: number;
  readonly to: number;
  readonly size: number;
  /** SHA-256 of the ids of the pack's objects, in the order of their object numbers. */
  readonly ids: string;
}

/**
 * Maximum size of a small pack. To keep the number of packs low, small packs and new objects are combined into one new
 * pack. Larger packs are never rewritten.
 */
const SMALL = { objects: 1024, bytes: 1024 * 1024 };
/** Number of object ids to hash before the work can yield to the event loop. */
const HASHED = 1024;

export function packFiles(folder: string, { checksum }: Pick<KeptPack, 'checksum'>): readonly [string, string] {
  const path = `${folder}/objects/pack/pack-${checksum}`;
  return [`${path}.pack`, `${path}.idx`];
}

/**
 * Writes a new pack with the objects of a repository that no pack in `before` contains. Returns all packs, in the order
 * of their object numbers.
 */
export async function addPack(
  folder: string,
  objects: ObjectStore,
  before: readonly KeptPack[],
  writes: FolderWrites,
  meter: Meter,
): Promise<readonly KeptPack[]> {
  const to = objects.size;
  const packs = [...before];
  if ((packs.at(-1)?.to ?? 0) === to) return before;
  let from = packs.at(-1)?.to ?? 0;
  // Merges small packs at the end into the new pack, as in a log-structured merge tree. Each object is thus rewritten
  // at most about ten times, and no save rewrites many objects.
  for (let last = packs.at(-1); last && isJoined(last, to - from); last = packs.at(-1)) {
    from = last.from;
    packs.pop();
  }
  const numbers = Int32Array.from({ length: to - from }, (_, at) => from + at);
  const draft = `${folder}/objects/pack/pack${DRAFT}`;
  const file = writes.open(draft);
  let described: Awaited<ReturnType<typeof describePack>>;
  try {
    described = await describePack(objects, numbers, (piece) => file.write(piece));
  } finally {
    file.close();
  }
  const { checksum, size, index } = described;
  const pack = { checksum, from, to, size, ids: await hashIds(objects, from, to, meter) };
  const [packFile, indexFile] = packFiles(folder, pack);
  writes.rename(draft, packFile);
  await writes.add(indexFile, [index]);
  return [...packs, pack];
}

/** Returns true if a pack is small enough to be combined with the `count` objects after it. */
function isJoined({ from, to, size }: KeptPack, count: number): boolean {
  return to - from <= 2 * count && to - from + count <= SMALL.objects && size <= SMALL.bytes;
}

/**
 * Returns the packs that are still valid after the whole state was replaced. Object numbers may have changed, so it
 * stops before the first pack whose objects have other numbers in `objects`.
 */
export async function samePacks(
  objects: ObjectStore,
  packs: readonly KeptPack[],
  meter: Meter,
): Promise<readonly KeptPack[]> {
  for (const [at, { from, to, ids }] of packs.entries()) {
    if (to > objects.size || (await hashIds(objects, from, to, meter)) !== ids) return packs.slice(0, at);
  }
  return packs;
}

export async function hashIds(objects: ObjectStore, from: number, to: number, meter: Meter): Promise<string> {
  const hash = createHash('sha256');
  const ids = Buffer.alloc(HASHED * OID_BYTES);
  for (let first = from; first < to; first += HASHED) {
    const count = Math.min(HASHED, to - first);
    for (let at = 0; at < count; at++) objects.copyOid(first + at, ids, at * OID_BYTES);
    hash.update(ids.subarray(0, count * OID_BYTES));
    meter.spend(count * COST.operation * 4);
    if (meter.shouldYield) await meter.yieldToEventLoop();
  }
  return hash.digest('hex');
}
