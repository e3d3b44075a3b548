import { createHash } from 'node:crypto';
import { COST } from '../../schedule/cost.js';
import { runSync, type Steps } from '../../schedule/steps.js';
import type { StoreLimits } from '../limits/store-limits.js';
import { BLOB, type Oid, oidIn, type TypeCode, typeName } from '../object/object.js';
import { type HashBytes, HEADROOM, writeHeaderBefore } from '../object/object-hash.js';
import { OID_BYTES, OidSlots } from '../object/oid-slots.js';
import { ObjectTooLarge, PackError } from '../pack/pack-error.js';
import { EdgeList } from './edge-list.js';
import type { EntryLocation } from './growing-table.js';
import { LinkRecorder, type TreeChange } from './link-recorder.js';
import { NO_RECORD } from './link-records.js';
import { UNDELTIFIED } from './object-table.js';
import type { StoredObjects } from './stored-objects.js';
import type { TreeLayout } from './tree-layout.js';

/**
 * Minimum size in bytes of an object that is processed in time slices. Processing such an object at once would delay
 * other requests.
 */
export const LARGE = 256 * 1024;
/** Number of bytes that are hashed, compared or copied between two yields. */
const PIECE = 256 * 1024;

/**
 * Check that is called with each new commit, tree and tag on receipt, while its body is in memory. It throws an error
 * to refuse the object. It returns false if it found a defect that it only reports.
 *
 * The body is valid until the generator ends. The check is not called for blobs, because their bodies need no check.
 */
export type CheckObject = (type: TypeCode, body: Buffer, oid: Oid, changed?: ChangedRuns) => Steps<boolean>;

/**
 * Byte ranges in which a tree differs from another tree that passed the check without a report. The check looks only at
 * these ranges. Each range is a pair of start and end (exclusive) and includes the adjacent tree entries.
 */
export type ChangedRuns = Int32Array;

/**
 * Adds objects to a store. For each object, it computes the id, compares the bytes with a known object of this id,
 * stores the object, and records the objects that it refers to (edges).
 */
export class ObjectWriter {
  readonly edges = new EdgeList();
  readonly #links: LinkRecorder;
  /** Numbers of the new objects in which the check found a defect. The check corresponds to `git fsck`. */
  readonly #flawed = new Set<number>();
  /**
   * Hash table from the id of a new object to its index in the arrays of the table. The index is the object number
   * minus `firstNumber`.
   */
  readonly slots = new OidSlots();
  /** Id (20 bytes) of the object that the writer processed last. */
  readonly oid = Buffer.alloc(OID_BYTES);

  constructor(
    readonly objects: StoredObjects,
    private readonly limits: StoreLimits,
    private readonly hash: HashBytes,
  ) {
    this.#links = new LinkRecorder(objects.newLinks, this.edges);
  }

  /**
   * Announces that probably `count` more objects will be added. The arrays and hash tables then grow in fewer, larger
   * steps.
   */
  expect(count: number): void {
    // The capacity is a sixteenth larger, so that the next small pushes need not enlarge the arrays again.
    this.objects.expected = this.objects.ownCount + count + (count >> 4);
    this.slots.expected = this.slots.count + count;
    this.edges.expected = this.edges.size + count;
  }

  find(bytes: Uint8Array, at: number): number {
    const { objects } = this;
    const added = this.slots.find(objects.oids, bytes, at);
    return added >= 0 ? added + objects.firstNumber : objects.find(bytes, at);
  }

  /** Stores a body as a loose object (uncompressed, outside a pack) and returns its id. */
  write(type: TypeCode, body: Buffer): Oid {
    return runSync(this.writeSteps(type, [body]));
  }

  /**
   * Variant of `write` for a body that may be large and consist of several parts. Yields between pieces of work, so
   * that other requests can run. The caller must not add another object before the generator ends.
   */
  *writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    let size = 0;
    for (const part of parts) size += part.length;
    const { slab, bodyStart, before } = this.#place(type, size);
    let start = bodyStart;
    for (const part of parts) {
      yield* copySteps(part, slab, start);
      start += part.length;
    }
    yield* this.#oidSteps(type, slab, bodyStart, size);
    if (this.find(this.oid, 0) < 0) {
      yield* this.edges.record(type, slab.subarray(bodyStart, bodyStart + size), this.#mostTargets);
    }
    return this.#keep(type, size, before);
  }

  /**
   * Reserves memory for a body in the segment of loose objects (uncompressed, outside a pack). Throws `ObjectTooLarge`
   * if the body exceeds the limit.
   *
   * `before` is the length of the segment before the call. The segment is truncated to it if the object turns out to be
   * stored already.
   */
  #place(type: TypeCode, size: number): { slab: Buffer; bodyStart: number; before: number } {
    const max = type === BLOB ? this.limits.objectBytes : this.limits.structureBytes;
    if (size > max) throw new ObjectTooLarge(size, max);
    const loose = this.objects.looseSegment;
    const before = loose.length;
    const { slab, start } = loose.reserve(HEADROOM + size);
    return { slab, bodyStart: start + HEADROOM, before };
  }

  /**
   * Adds the body that was just written to the segment as a new object, and returns its id. If an object with the id in
   * `oid` is already stored, the body is removed again.
   */
  #keep(type: TypeCode, size: number, before: number): Oid {
    const loose = this.objects.looseSegment;
    if (this.find(this.oid, 0) >= 0) {
      loose.truncate(before);
    } else {
      const end = loose.length;
      const segment = this.objects.looseIndex;
      this.#add(type, size, { segment, offset: end - size, end, base: UNDELTIFIED, isRefDelta: false });
    }
    return oidIn(this.oid);
  }

  /**
   * Stores the object of a pack entry and returns its object number. If the object is already stored, its existing
   * number is returned. Throws `PackError` if other bytes are stored under its id. Yields only for a large object.
   *
   * - `buffer`: contains the body. The `HEADROOM` bytes before it are overwritten with the header that Git hashes.
   * - `change`: delta from which a tree was built
   * - `layout`: receives the entries of a new tree
   */
  *store(
    type: TypeCode,
    buffer: Buffer,
    bodyStart: number,
    size: number,
    entry: EntryLocation,
    check?: CheckObject,
    change?: TreeChange,
    layout?: TreeLayout,
  ): Steps<number> {
    yield* this.#oidSteps(type, buffer, bodyStart, size);
    const known = this.find(this.oid, 0);
    if (known >= 0) {
      yield* this.#refuseCollision(known, type, buffer, bodyStart, size);
      return known;
    }
    const body = buffer.subarray(bodyStart, bodyStart + size);
    let isFlawless = true;
    let place = NO_RECORD;
    if (type !== BLOB) {
      if (size < LARGE) place = this.#links.record(type, body, this.#mostTargets, change, layout);
      else yield* this.edges.record(type, body, this.#mostTargets);
      if (check !== undefined) {
        const isComparable = change?.base.isFlawless === true && place !== NO_RECORD;
        const changed = isComparable ? this.#links.changed.view() : undefined;
        isFlawless = yield* check(type, body, oidIn(this.oid), changed);
      }
    }
    const number = this.#add(type, size, entry);
    this.objects.setLinks(number, place);
    if (!isFlawless) this.#flawed.add(number);
    if (layout !== undefined) layout.isFlawless = isFlawless;
    if (this.objects.wantsPin(number)) {
      const pinned = Buffer.allocUnsafeSlow(size);
      yield* copySteps(body, pinned, 0);
      this.objects.pin(number, pinned);
    }
    if (type === BLOB && size < LARGE) this.objects.caches.keepNewBody(number, body);
    return number;
  }

  /**
   * Fills `layout` with the entries of a tree that this writer stored. Returns false if the tree has no link record,
   * which contains the decoded entries.
   */
  layOut(number: number, layout: TreeLayout): boolean {
    layout.isFlawless = !this.#flawed.has(number);
    return this.#links.layOut(this.objects, number, layout);
  }

  /**
   * Makes the link records (decoded commits and trees) of the objects from number `first` on readable. `numbers`
   * contains the object number of the target of each edge in `edges`.
   */
  *settleLinks(first: number, numbers: Int32Array): Steps<void> {
    yield* this.#links.settle(this.objects, first, numbers);
  }

  /**
   * Renumbers the objects from number `first` on, so that their numbers ascend with their offsets in the received pack.
   * `order` lists their current numbers in the new order. Renumbering is needed, because objects are stored in the
   * order in which deltas are resolved.
   */
  *reorder(first: number, order: Int32Array): Steps<void> {
    const { objects } = this;
    const moved = yield* objects.reorder(first, order);
    yield* this.slots.renumber(first - objects.firstNumber, moved, objects.firstNumber);
  }

  /**
   * Computes the id of a body and writes it to `this.oid`. The `HEADROOM` bytes before the body are overwritten with
   * the header that Git hashes. Yields if the body is large.
   */
  *#oidSteps(type: TypeCode, buffer: Buffer, bodyStart: number, size: number): Steps<void> {
    const end = bodyStart + size;
    const start = writeHeaderBefore(buffer, bodyStart, type, size);
    if (size < LARGE) {
      this.objects.schedule.spend(size * COST.byteHashed);
      this.hash(buffer, start, end, this.oid, 0);
      return;
    }
    const sha1 = createHash('sha1');
    for (let at = start; at < end; at += PIECE) {
      const piece = buffer.subarray(at, Math.min(end, at + PIECE));
      sha1.update(piece);
      yield piece.length * COST.byteHashed;
    }
    sha1.digest().copy(this.oid);
  }

  #add(type: TypeCode, size: number, entry: EntryLocation): number {
    const number = this.objects.add(type, size, entry, this.oid);
    this.slots.insert(this.objects.oids, number - this.objects.firstNumber);
    return number;
  }

  /** Largest number of distinct objects that can exist when the current push is complete. */
  get #mostTargets(): number {
    return this.objects.count + 1 + this.limits.objects;
  }

  *#refuseCollision(known: number, type: TypeCode, buffer: Buffer, bodyStart: number, size: number): Steps<void> {
    const { objects } = this;
    if (objects.typeOf(known) !== type || objects.sizeOf(known) !== size) throw this.#collision(type);
    const body = yield* objects.readSteps(known);
    for (let at = 0; at < size; at += PIECE) {
      const end = Math.min(size, at + PIECE);
      if (body.compare(buffer, bodyStart + at, bodyStart + end, at, end) !== 0) throw this.#collision(type);
      yield (end - at) * COST.byteCopied;
    }
  }

  #collision(type: TypeCode): PackError {
    return new PackError('collision', `SHA1 COLLISION FOUND WITH ${oidIn(this.oid)} ! (${typeName(type)})`);
  }
}

/** Copies `source` into `target` at offset `at`. Yields between pieces, so that other requests can run. */
export function* copySteps(source: Buffer, target: Buffer, at: number): Steps<void> {
  for (let from = 0; from < source.length; from += PIECE) {
    if (from > 0) yield PIECE * COST.byteCopied;
    source.copy(target, at + from, from, from + PIECE);
  }
}
