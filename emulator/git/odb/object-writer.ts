import { createHash } from 'node:crypto';
import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { inSlices, runSync, type Steps } from '../../schedule/steps.js';
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

/** An object this large is taken in by slices. */
export const LARGE = 256 * 1024;
/** Bytes hashed, compared or copied between two looks at the schedule. */
const PIECE = 256 * 1024;

/**
 * Told of each new commit, tree and tag while its body is at hand; refuses it by throwing. The body is good during the
 * call, or until the steps it returned for a large one are done. (Blobs are checked by their names in trees.) False when
 * it had something to say.
 */
export type CheckObject = (type: TypeCode, body: Buffer, oid: Oid, changed?: ChangedRuns) => boolean | Steps<boolean>;

/**
 * Where a tree differs from another one of which the check had nothing to say: start and end of each run of bytes, with
 * the entries next to it.
 */
export type ChangedRuns = Int32Array;

/** Adds objects: computes their ids, compares them with what is known under those, stores them, and records their edges. */
export class ObjectWriter {
  readonly edges = new EdgeList();
  readonly #links: LinkRecorder;
  /** Objects that the check had something to say of. */
  readonly #flawed = new Set<number>();
  /** The new objects only: their numbers by id, less the first number of the table they are in. */
  readonly slots = new OidSlots();
  /** The id of the object that came last. */
  readonly oid = Buffer.alloc(OID_BYTES);

  constructor(
    readonly objects: StoredObjects,
    private readonly limits: StoreLimits,
    private readonly hash: HashBytes,
  ) {
    this.#links = new LinkRecorder(objects.newLinks, this.edges);
  }

  find(bytes: Uint8Array, at: number): number {
    const { objects } = this;
    const added = this.slots.find(objects.oids, bytes, at);
    return added >= 0 ? added + objects.first : objects.find(bytes, at);
  }

  /** Stores a body as a loose object. */
  write(type: TypeCode, body: Buffer): Oid {
    const { slab, bodyStart, before } = this.#place(type, body.length);
    body.copy(slab, bodyStart);
    this.objects.schedule.spend(body.length * (COST.byteCopied + COST.byteHashed));
    this.computeOid(type, slab, bodyStart, body.length);
    if (this.find(this.oid, 0) < 0) runSync(this.#recordEdges(type, slab, bodyStart, body.length));
    return this.#keep(type, slab, bodyStart, body.length, before);
  }

  /** As `write`, of a body that may be large and in parts, in steps. Nothing else may be written meanwhile. */
  *writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    let size = 0;
    for (const part of parts) size += part.length;
    if (size <= PIECE) return this.write(type, parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    const { slab, bodyStart, before } = this.#place(type, size);
    let start = bodyStart;
    for (const part of parts) {
      yield* copySteps(part, slab, start);
      start += part.length;
    }
    yield* this.#oidSteps(type, slab, bodyStart, size);
    if (this.find(this.oid, 0) < 0) yield* this.#recordEdges(type, slab, bodyStart, size);
    return this.#keep(type, slab, bodyStart, size, before);
  }

  /** Room for a body; `before` is where it goes back to if it was not needed. */
  #place(type: TypeCode, size: number): { slab: Buffer; bodyStart: number; before: number } {
    const most = type === BLOB ? this.limits.objectBytes : this.limits.structureBytes;
    if (size > most) throw new ObjectTooLarge(size, most);
    const loose = this.objects.looseSegment;
    const before = loose.length;
    const { slab, start } = loose.reserve(HEADROOM + size);
    return { slab, bodyStart: start + HEADROOM, before };
  }

  /** Keeps the body whose id is in `oid`, unless it is known. */
  #keep(type: TypeCode, slab: Buffer, bodyStart: number, size: number, before: number): Oid {
    const loose = this.objects.looseSegment;
    if (this.find(this.oid, 0) >= 0) {
      loose.truncate(before);
    } else {
      const end = loose.length;
      const segment = this.objects.looseIndex;
      const entry = { segment, offset: end - size, end, base: UNDELTIFIED, isRefDelta: false };
      this.#add(type, slab, bodyStart, size, entry);
    }
    return oidIn(this.oid);
  }

  /**
   * Stores what an entry of a pack turned out to be, after `computeOid`. Returns its
   * number, an old one when the object is known. Throws `PackError` when other bytes are known under
   * the same id. `change`: how a tree came about. `layout` is to be filled with the entries of a new tree.
   */
  store(
    type: TypeCode,
    buffer: Buffer,
    bodyStart: number,
    size: number,
    entry: EntryLocation,
    check?: CheckObject,
    change?: TreeChange,
    layout?: TreeLayout,
  ): number {
    const known = this.find(this.oid, 0);
    if (known >= 0) {
      runSync(this.#refuseCollision(known, type, buffer, bodyStart, size));
      return known;
    }
    if (type === BLOB) {
      const number = this.#add(type, buffer, bodyStart, size, entry);
      this.objects.caches.keepNewBody(number, buffer, bodyStart, bodyStart + size);
      return number;
    }
    let isFlawless = true;
    const body = buffer.subarray(bodyStart, bodyStart + size);
    const place = this.#links.record(type, body, this.#mostTargets, change, layout);
    if (check !== undefined) {
      const isComparable = change?.base.isFlawless === true && place !== NO_RECORD;
      const changed = isComparable ? this.#links.changed.view() : undefined;
      const checked = check(type, body, oidIn(this.oid), changed);
      isFlawless = typeof checked === 'boolean' ? checked : runSync(checked);
    }
    const number = this.#add(type, buffer, bodyStart, size, entry);
    this.objects.setLinks(number, place);
    if (!isFlawless) this.#flawed.add(number);
    if (layout !== undefined) layout.isFlawless = isFlawless;
    return number;
  }

  /** Fills `layout` with the entries of a tree that was stored here; says whether it could. */
  layOut(number: number, layout: TreeLayout): boolean {
    layout.isFlawless = !this.#flawed.has(number);
    return this.#links.layOut(this.objects, number, layout);
  }

  /** Makes the records of objects from `first` on readable; `numbers`: what the edges lead to. */
  *settleLinks(first: number, numbers: Int32Array): Steps<void> {
    yield* this.#links.settle(this.objects, first, numbers);
  }

  /** As `computeOid` and `store`, of a large object, without holding up others for long. */
  async storeInSlices(
    type: TypeCode,
    buffer: Buffer,
    bodyStart: number,
    size: number,
    entry: EntryLocation,
    meter: Meter,
    check?: CheckObject,
  ): Promise<number> {
    await inSlices(this.#oidSteps(type, buffer, bodyStart, size), meter);
    const known = this.find(this.oid, 0);
    if (known >= 0) {
      await inSlices(this.#refuseCollision(known, type, buffer, bodyStart, size), meter);
      return known;
    }
    if (check !== undefined && type !== BLOB) {
      const checked = check(type, buffer.subarray(bodyStart, bodyStart + size), oidIn(this.oid));
      if (typeof checked !== 'boolean') await inSlices(checked, meter);
    }
    await inSlices(this.#recordEdges(type, buffer, bodyStart, size), meter);
    const number = this.#add(type, buffer, bodyStart, size, entry);
    if (this.objects.wantsPin(number)) {
      const body = Buffer.allocUnsafeSlow(size);
      await copyInSlices(buffer.subarray(bodyStart, bodyStart + size), body, 0, meter);
      this.objects.pin(number, body);
    }
    return number;
  }

  /**
   * Numbers the objects from `first` on as `order` lists them, so that numbers ascend with the offsets
   * in the pack, whatever the order in which its deltas were resolved.
   */
  async reorder(first: number, order: Int32Array, meter: Meter): Promise<void> {
    const { objects } = this;
    const moved = await objects.reorder(first, order, meter);
    this.slots.renumber(
      first - objects.first,
      objects.first === 0 ? moved : moved.map((number) => number - objects.first),
    );
  }

  /** As `computeOid`, in steps. */
  *#oidSteps(type: TypeCode, buffer: Buffer, bodyStart: number, size: number): Steps<void> {
    const sha1 = createHash('sha1');
    const end = bodyStart + size;
    for (let at = writeHeaderBefore(buffer, bodyStart, type, size); at < end; at += PIECE) {
      const piece = buffer.subarray(at, Math.min(end, at + PIECE));
      sha1.update(piece);
      yield piece.length * COST.byteHashed;
    }
    sha1.digest().copy(this.oid);
  }

  /** Computes the id of a body into `oid`. The `HEADROOM` bytes before the body are overwritten. */
  computeOid(type: TypeCode, buffer: Buffer, bodyStart: number, size: number): void {
    const header = writeHeaderBefore(buffer, bodyStart, type, size);
    this.hash(buffer, header, bodyStart + size, this.oid, 0);
  }

  #add(type: TypeCode, buffer: Buffer, bodyStart: number, size: number, entry: EntryLocation): number {
    const number = this.objects.add(type, size, entry, this.oid);
    this.slots.insert(this.objects.oids, number - this.objects.first);
    if (size < LARGE && this.objects.wantsPin(number)) {
      this.objects.pin(number, Buffer.from(buffer.subarray(bodyStart, bodyStart + size)));
    }
    return number;
  }

  #recordEdges(type: TypeCode, buffer: Buffer, bodyStart: number, size: number): Steps<void> {
    return this.edges.record(type, buffer.subarray(bodyStart, bodyStart + size), this.#mostTargets);
  }

  /** More different targets than this cannot all exist. */
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

/** Copies a long run of bytes, in steps. */
function* copySteps(source: Buffer, target: Buffer, at: number): Steps<void> {
  for (let from = 0; from < source.length; from += PIECE) {
    yield source.copy(target, at + from, from, from + PIECE) * COST.byteCopied;
  }
}

/** As `copySteps`, in slices. */
export function copyInSlices(source: Buffer, target: Buffer, at: number, meter: Meter): Promise<void> {
  return inSlices(copySteps(source, target, at), meter);
}
