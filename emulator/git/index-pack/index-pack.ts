import { COST } from '../../schedule/cost.js';
import { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import type { StoreLimits } from '../limits/store-limits.js';
import type { TypeCode } from '../object/object.js';
import { HEADROOM } from '../object/object-hash.js';
import { UNDELTIFIED } from '../odb/object-table.js';
import { type CheckObject, LARGE, type ObjectWriter } from '../odb/object-writer.js';
import type { Quarantine } from '../odb/quarantine.js';
import { createInflater, type Inflater } from '../pack/inflater.js';
import { PackError } from '../pack/pack-error.js';
import { Segment } from '../pack/segment.js';
import { DeltaResolver } from './delta-resolver.js';
import { PackEntries } from './pack-entries.js';
import { PackScan, type ScanSink } from './pack-scan.js';

export interface IndexPackOptions {
  /** True for a thin pack. Its deltas may have bases that are not in the pack but already in the store. */
  readonly thin: boolean;
  /**
   * Checks each new object, and throws to refuse it. With a check, the pack must not contain an object twice, as for
   * `git index-pack --strict`.
   */
  readonly check?: CheckObject;
  readonly signal?: AbortSignal;
  /**
   * True if the caller never changes a piece of the pack after passing it. Large pieces are then stored without
   * copying.
   */
  readonly isGiven?: boolean;
}

export interface IndexedPack {
  /**
   * Size of the pack. `objects` is the number of its entries. `bytes` is its size in bytes with header and checksum.
   */
  readonly objects: number;
  readonly bytes: number;
}

/**
 * Maximum number of bytes of a received piece that are copied before they are parsed. A larger piece is handled in
 * several parts, with yields to the event loop in between.
 */
const GULP = 512 * 1024;
/** Number of entries processed by `packOrder` between two yields to the event loop. Must be a power of two. */
const ORDERED = 4096;
/** Minimum size in bytes of a received piece that is stored without copying. */
const ADOPTED = 64 * 1024;

/**
 * Stores the objects of a pack in a quarantine (objects that are not visible yet) while the pack is received. Objects
 * that are not deltas are stored immediately. Deltas are resolved when the pack is complete and its checksum is
 * correct. The work is done in time slices, so that other requests are served in between.
 *
 * Throws `PackError`, `StoreFull`, the reason of `signal`, or an error of `check`. After an error, the quarantine can
 * only be discarded.
 */
export function indexPack(
  quarantine: Quarantine,
  pack: AsyncIterable<Uint8Array>,
  options: IndexPackOptions,
): Promise<IndexedPack> {
  return quarantine.fill((writer, limits) => scanAndResolve(writer, limits, pack, options));
}

async function scanAndResolve(
  writer: ObjectWriter,
  limits: StoreLimits,
  pack: AsyncIterable<Uint8Array>,
  options: IndexPackOptions,
): Promise<IndexedPack> {
  const { objects } = writer;
  const before = objects.count;
  const meter = new Meter({ schedule: objects.schedule, signal: options.signal });
  const { segment, index: segmentIndex } = objects.addSegment();
  const inflater = createInflater();
  const entries = new PackEntries();
  const sink = new EntrySink(entries, writer, inflater, segmentIndex, limits.workBytes / 2, options.check);
  const scan = new PackScan(entries, segment, inflater, limits, sink);
  for await (const bytes of pack) {
    if (options.isGiven && isWorthKeeping(bytes)) {
      scan.adopt(Buffer.from(bytes.buffer));
      await runYielding(scan.run(), meter);
      continue;
    }
    for (let at = 0; at < bytes.length; at += GULP) {
      scan.push(bytes.subarray(at, at + GULP));
      await runYielding(scan.run(), meter);
    }
  }
  scan.end();
  await runYielding(scan.run(), meter);
  scan.verifyEnd();
  segment.seal();
  const scanned = {
    entries,
    segment,
    segmentIndex,
    end: scan.entriesEnd,
    inflated: scan.inflated,
    keptDeltas: sink.keptDeltas,
  };
  const resolver = new DeltaResolver(scanned, writer, inflater, limits, options.check);
  await runYielding(resolver.resolve(options.thin), meter);
  const { unresolved, count } = entries;
  if (unresolved > 0) {
    throw new PackError('unresolved', `pack has ${unresolved} unresolved delta${unresolved === 1 ? '' : 's'}`);
  }
  const bytes = segment.length;
  const order = await runYielding(
    packOrder(entries, writer, before, resolver.thinBases, options.check === undefined),
    meter,
  );
  if (objects.count === before) objects.dropLastSegment();
  else await runYielding(writer.reorder(before, order), meter);
  return { objects: count, bytes };
}

/**
 * Returns true if a received piece should be stored without copying it. The piece must be large, because many small
 * pieces would make the segment (memory of the pack) slow to read. It must also be a whole memory block, because
 * storing a part would keep the whole block in memory.
 */
function isWorthKeeping({ buffer, length }: Uint8Array): boolean {
  return length >= ADOPTED && length === buffer.byteLength;
}

/**
 * Returns the numbers of the new objects in the order of their entries in the pack. `first` is the smallest number of a
 * new object. An object with several entries is listed at the entry that was resolved first.
 *
 * Throws `PackError` for an object with several entries, unless `mayRepeat` is true. Bases of a thin pack (`thinBases`)
 * count as entries here, because Git appends them to the pack.
 */
function* packOrder(
  { count, numbers, offsets }: PackEntries,
  { objects }: ObjectWriter,
  first: number,
  thinBases: ReadonlySet<number>,
  mayRepeat: boolean,
): Steps<Int32Array> {
  const order = new Int32Array(objects.count - first);
  let length = 0;
  /**
   * Older objects (stored before this pack) that are bases of its deltas, or for which an entry was found. Another
   * entry for such an object is a repetition.
   */
  const known = new Set(thinBases);
  for (let entry = 0; entry < count; entry++) {
    if ((entry & (ORDERED - 1)) === ORDERED - 1) yield ORDERED * 4 * COST.operation;
    const number = numbers[entry]!;
    if (number < first ? !known.has(number) : objects.offsetOf(number) === offsets[entry]) {
      if (number < first) known.add(number);
      else order[length++] = number;
    } else if (!mayRepeat) {
      throw new PackError('corrupt', `The same object ${objects.oidOf(number)} appears twice in the pack`);
    }
  }
  return order;
}

/**
 * Receiver of the entries that `PackScan` finds. It stores objects that are not deltas immediately. Small deltas are
 * kept in inflated form until their bases are known, so that they need not be inflated again.
 */
class EntrySink implements ScanSink {
  readonly keptDeltas = new Segment(() => undefined, true);

  constructor(
    private readonly entries: PackEntries,
    private readonly writer: ObjectWriter,
    private readonly inflater: Inflater,
    private readonly segment: number,
    private readonly mostKept: number,
    private readonly check: CheckObject | undefined,
  ) {}

  announce(entries: number): void {
    this.writer.expect(entries);
  }

  *whole(entry: number, type: TypeCode, end: number): Steps<void> {
    const { output, size } = this.inflater;
    const { offsets, numbers } = this.entries;
    const location = { segment: this.segment, offset: offsets[entry]!, end, base: UNDELTIFIED, isRefDelta: false };
    numbers[entry] = yield* this.writer.store(type, output, HEADROOM, size, location, this.check);
  }

  delta(entry: number): void {
    const { output, size } = this.inflater;
    if (size === 0 || size > LARGE || this.keptDeltas.length + size > this.mostKept) return;
    const { slab, start } = this.keptDeltas.reserve(size);
    output.copy(slab, start, HEADROOM, HEADROOM + size);
    this.entries.kept[entry] = this.keptDeltas.length - size;
  }
}
