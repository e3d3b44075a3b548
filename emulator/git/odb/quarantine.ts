import type { StoreLimits } from '../limits/store-limits.js';
import type { MissingObject, ObjectReader, Oid, TypeCode } from '../object/object.js';
import type { HashBytes } from '../object/object-hash.js';
import { OID_BYTES, type OidSlots } from '../object/oid-slots.js';
import { Meter } from '../schedule/meter.js';
import { inSlices } from '../schedule/steps.js';
import { Connectivity } from './connectivity.js';
import { Intake } from './object-writer.js';
import { findPrefix } from './oid-prefix.js';
import { peelNewTags } from './peeled-tags.js';
import { type StoredObjects, WRITTEN } from './stored-objects.js';

/**
 * The one way to add objects. Its reader sees the published objects and the new ones, whose numbers
 * start at `base`; nobody else sees the new ones before `publish`, and after `discard` nobody does.
 */
export class Quarantine implements ObjectReader {
  readonly base: number;
  readonly #objects: StoredObjects;
  readonly #intake: Intake;
  readonly #connectivity: Connectivity;
  readonly #segments: number;
  readonly #written: number;
  readonly #raw = Buffer.alloc(OID_BYTES);
  #state: 'open' | 'broken' | 'closed' = 'open';
  /** Objects it shows once it is closed. */
  #closedSize = 0;

  constructor(
    objects: StoredObjects,
    /** How many of them are published. */
    base: number,
    private readonly published: OidSlots,
    private readonly limits: StoreLimits,
    hash: HashBytes,
    /** Takes over the table of all ids, or nothing when the new objects were discarded. */
    private readonly close: (slots: OidSlots | undefined) => void,
  ) {
    this.base = base;
    this.#objects = objects;
    this.#intake = new Intake(this.#objects, published, limits, hash);
    this.#connectivity = new Connectivity(this.#intake, this.base);
    this.#segments = this.#objects.segments.length;
    this.#written = this.#objects.segments[WRITTEN]!.length;
  }

  /**
   * Adds an object unless it is known; returns its id. `body` is copied. Throws `ObjectTooLarge`, and
   * `StoreFull` when the memory budget is used up.
   */
  write(type: TypeCode, body: Buffer): Oid {
    this.#refuseUnlessOpen();
    return this.#intake.write(type, body);
  }

  /** As `write`, of a body that may be large: others get their turn. Throws what `turn` throws, too. */
  async writeInSlices(type: TypeCode, body: Buffer | readonly Buffer[], meter: Meter): Promise<Oid> {
    this.#refuseUnlessOpen();
    return this.#intake.writeInSlices(type, body, meter);
  }

  /**
   * Runs `fill`, which stores many objects through the writer. When it throws, the quarantine can only be discarded.
   */
  async fill<T>(fill: (writer: Intake, limits: StoreLimits) => Promise<T>): Promise<T> {
    this.#refuseUnlessOpen();
    this.#state = 'broken';
    const result = await fill(this.#intake, this.limits);
    this.#state = 'open';
    return result;
  }

  /**
   * Throws `MissingObject` unless everything reachable from `tips` is there. Cheap as long as nothing
   * is missing, whatever the size of the repository.
   */
  async checkConnectivity(tips: Iterable<Oid>): Promise<void> {
    for (const missing of (await this.findUnconnected(tips)).values()) throw missing;
  }

  /** As `checkConnectivity`, for each of many tips: those that lead to something missing, and to what. */
  findUnconnected(tips: Iterable<Oid>): Promise<Map<Oid, MissingObject>> {
    this.#refuseUnlessOpen();
    return this.#connectivity.failures(tips);
  }

  /**
   * What is missing of the new objects, whether a tip leads to it or not; undefined when they are whole. What is
   * published can be asked for by id, and everybody relies on finding what it links to.
   */
  findMissing(): Promise<MissingObject | undefined> {
    this.#refuseUnlessOpen();
    return this.#connectivity.firstMissing();
  }

  /** Finds out, in slices, where new tags of tags lead in the end. Everything they lead to has to be there. */
  async peelTags(): Promise<void> {
    const { links } = this.#intake;
    if (links.hasTagOfTag || links.isDoubtful)
      await inSlices(peelNewTags(this.#objects, this, this.base), new Meter({ schedule: this.#objects.schedule }));
  }

  /** Makes all new objects visible at once. */
  publish(): void {
    this.#refuseUnlessOpen();
    this.#state = 'closed';
    this.#closedSize = this.#objects.count;
    this.#connectivity.publish();
    const added = this.#intake.slots;
    const all = this.published.count === 0 ? added : this.published;
    if (all !== added) {
      for (let number = this.base; number < this.#objects.count; number++) all.insert(this.#objects.oids, number);
    }
    this.close(all);
  }

  /** Removes all new objects. Does nothing after `publish` or another `discard`. */
  discard(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#closedSize = this.base;
    this.#objects.truncate(this.base, this.#segments, this.#written);
    this.close(undefined);
  }

  [Symbol.dispose](): void {
    this.discard();
  }

  get size(): number {
    return this.#state === 'closed' ? this.#closedSize : this.#objects.count;
  }

  find(oid: Oid): number {
    this.#raw.write(oid, 0, 'hex');
    return this.findRaw(this.#raw, 0);
  }

  findRaw(bytes: Uint8Array, at: number): number {
    const number = this.#intake.find(bytes, at);
    return number < this.size ? number : -1;
  }

  findPrefix(prefix: string, limit: number): Oid[] {
    return findPrefix(this.#objects.oids, this.size, prefix, limit);
  }

  oidOf(number: number): Oid {
    return this.#objects.oidOf(number);
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    this.#objects.copyOid(number, target, at);
  }

  typeOf(number: number): TypeCode {
    return this.#objects.types[number] as TypeCode;
  }

  sizeOf(number: number): number {
    return this.#objects.sizes[number]!;
  }

  read(number: number): Buffer {
    return this.#objects.read(number);
  }

  readInSlices(number: number, meter: Meter): Promise<Buffer> {
    return this.#objects.readInSlices(number, meter);
  }

  peek(number: number): Buffer {
    return this.#objects.peek(number);
  }

  peeledOf(number: number): number | undefined {
    return this.#objects.peeled.get(number);
  }

  #refuseUnlessOpen(): void {
    if (this.#state === 'broken') throw new Error('this quarantine holds part of a pack and can only be discarded');
    if (this.#state === 'closed') throw new Error('this quarantine is closed');
  }
}
