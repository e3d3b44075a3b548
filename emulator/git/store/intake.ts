import { createHash } from 'node:crypto';
import { BLOB, type Oid, type TypeCode, typeName } from '../object.js';
import type { Meter } from '../schedule/meter.js';
import type { StoreLimits } from './limits.js';
import { LinkLedger } from './link-ledger.js';
import { type HashBytes, HEADROOM, writeHeaderBefore } from './object-hash.js';
import { OID_BYTES, OidSlots } from './oid-slots.js';
import { ObjectTooLarge, PackError } from './pack-error.js';
import { type Entry, type StoredObjects, WHOLE, WRITTEN } from './stored-objects.js';

/** Bytes hashed between two looks at the clock. */
const PIECE = 4 * 1024 * 1024;

/**
 * Told of each new commit, tree and tag while its body is at hand; refuses it by throwing. The body is good during the
 * call. (What a blob holds is judged by its name, which only trees tell.)
 */
export type CheckObject = (type: TypeCode, body: Buffer, oid: Oid) => void;

/** Where new objects pass: named, compared with what is known under that name, stored, their links noted. */
export class Intake {
  readonly links = new LinkLedger();
  /** Ids of the new objects only. */
  readonly slots = new OidSlots();
  /** The id of the object that came last. */
  readonly oid = Buffer.alloc(OID_BYTES);

  constructor(
    readonly objects: StoredObjects,
    private readonly published: OidSlots,
    private readonly limits: StoreLimits,
    private readonly hash: HashBytes,
  ) {}

  find(bytes: Uint8Array, at: number): number {
    const { oids } = this.objects;
    const number = this.slots.find(oids, bytes, at);
    return number >= 0 ? number : this.published.find(oids, bytes, at);
  }

  /** Stores a body that was written on its own. */
  write(type: TypeCode, body: Buffer): Oid {
    const { slab, bodyStart, before } = this.#place(body.length);
    body.copy(slab, bodyStart);
    this.name(type, slab, bodyStart, body.length);
    return this.#keep(type, slab, bodyStart, body.length, before);
  }

  /** As `write`, without holding up others for long. Nothing else may be written meanwhile. */
  async writeInSlices(type: TypeCode, body: Buffer, meter: Meter): Promise<Oid> {
    if (body.length <= PIECE) return this.write(type, body);
    const { slab, bodyStart, before } = this.#place(body.length);
    for (let at = 0; at < body.length; at += PIECE) {
      body.copy(slab, bodyStart + at, at, at + PIECE);
      if (meter.isOver) await meter.pass();
    }
    await this.nameInSlices(type, slab, bodyStart, body.length, meter);
    return this.#keep(type, slab, bodyStart, body.length, before);
  }

  /** Room for a body; `before` is where it goes back to if it was not needed. */
  #place(size: number): { slab: Buffer; bodyStart: number; before: number } {
    if (size > this.limits.objectBytes) throw new ObjectTooLarge(size, this.limits.objectBytes);
    const segment = this.objects.segments[WRITTEN]!;
    const before = segment.length;
    const { slab, start } = segment.reserve(HEADROOM + size);
    return { slab, bodyStart: start + HEADROOM, before };
  }

  /** Keeps a named body, unless it is known. */
  #keep(type: TypeCode, slab: Buffer, bodyStart: number, size: number, before: number): Oid {
    const segment = this.objects.segments[WRITTEN]!;
    if (this.find(this.oid, 0) >= 0) {
      segment.truncate(before);
    } else {
      const end = segment.length;
      const entry = { segment: WRITTEN, offset: end - size, end, base: WHOLE, isNamed: false };
      this.#add(type, slab, bodyStart, size, entry);
    }
    return this.oid.toString('hex');
  }

  /**
   * Stores what an entry of a pack turned out to be, after its id was computed by `name`. Returns its
   * number, an old one when the object is known. Throws `PackError` when other bytes are known under
   * the same id.
   */
  storeNamed(
    type: TypeCode,
    buffer: Buffer,
    bodyStart: number,
    size: number,
    entry: Entry,
    check?: CheckObject,
  ): number {
    const known = this.find(this.oid, 0);
    if (known >= 0) {
      this.#refuseCollision(known, type, buffer, bodyStart, size);
      return known;
    }
    if (check !== undefined && type !== BLOB) {
      check(type, buffer.subarray(bodyStart, bodyStart + size), this.oid.toString('hex'));
    }
    return this.#add(type, buffer, bodyStart, size, entry);
  }

  /**
   * Numbers the objects from `first` on as `order` lists them, so that numbers ascend with the places
   * in the pack whatever order its deltas were resolved in.
   */
  async reorder(first: number, order: Int32Array, meter: Meter): Promise<void> {
    this.slots.renumber(first, await this.objects.reorder(first, order, meter));
  }

  /** As `name`, without holding up others for long. */
  async nameInSlices(type: TypeCode, buffer: Buffer, bodyStart: number, size: number, meter: Meter): Promise<void> {
    const sha1 = createHash('sha1');
    const end = bodyStart + size;
    for (let at = writeHeaderBefore(buffer, bodyStart, type, size); at < end; at += PIECE) {
      sha1.update(buffer.subarray(at, Math.min(end, at + PIECE)));
      if (meter.isOver) await meter.pass();
    }
    sha1.digest().copy(this.oid);
  }

  /** Computes the id of a body into `oid`. The `HEADROOM` bytes before the body are overwritten. */
  name(type: TypeCode, buffer: Buffer, bodyStart: number, size: number): void {
    const header = writeHeaderBefore(buffer, bodyStart, type, size);
    this.hash(buffer, header, bodyStart + size, this.oid, 0);
  }

  #add(type: TypeCode, buffer: Buffer, bodyStart: number, size: number, entry: Entry): number {
    const number = this.objects.add(type, size, entry, this.oid, buffer, bodyStart);
    this.slots.insert(this.objects.oids, number);
    this.links.record(type, buffer, bodyStart, bodyStart + size, this.objects.count + this.limits.objects);
    return number;
  }

  #refuseCollision(known: number, type: TypeCode, buffer: Buffer, bodyStart: number, size: number): void {
    const { objects } = this;
    const isSame =
      objects.types[known] === type &&
      objects.sizes[known] === size &&
      objects.read(known).compare(buffer, bodyStart, bodyStart + size) === 0;
    if (isSame) return;
    throw new PackError('collision', `SHA1 COLLISION FOUND WITH ${this.oid.toString('hex')} ! (${typeName(type)})`);
  }
}
