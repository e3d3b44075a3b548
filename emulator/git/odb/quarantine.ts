import { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import type { StoreLimits } from '../limits/store-limits.js';
import type { MissingObject, Oid, TypeCode } from '../object/object.js';
import type { HashBytes } from '../object/object-hash.js';
import { Connectivity } from './connectivity.js';
import type { Extent } from './object-table.js';
import { ObjectWriter } from './object-writer.js';
import { peelNewTags } from './peeled-tags.js';
import { StoreReader } from './store-reader.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Transaction that adds objects to a store. There is no other way to add objects. The new objects have numbers from
 * `base` on.
 *
 * Reads through the quarantine find the published and the new objects. Readers of the store see the new objects only
 * after `publish`. `discard` removes them.
 */
export class Quarantine extends StoreReader {
  readonly base: number;
  readonly #writer: ObjectWriter;
  readonly #connectivity: Connectivity;
  #state: 'open' | 'broken' | 'closed' = 'open';
  /** Number of objects that reads through the quarantine can see after its end, when it was published or discarded. */
  #closedSize = 0;

  constructor(
    objects: StoredObjects,
    /** Fill level of the object table before the first new object was added. */
    private readonly before: Extent,
    private readonly limits: StoreLimits,
    hash: HashBytes,
    /** Callback that is called once, after the new objects were published or discarded. */
    private readonly close: () => void,
  ) {
    super(objects);
    this.base = before.count;
    this.#writer = new ObjectWriter(objects, limits, hash);
    this.#connectivity = new Connectivity(this.#writer, this.base);
  }

  /**
   * Adds an object with a copy of `body`, unless it is already stored. Returns its id. Throws `ObjectTooLarge` if the
   * body exceeds its limit, and `StoreFull` if the memory budget is exceeded.
   */
  write(type: TypeCode, body: Buffer): Oid {
    this.#refuseUnlessOpen();
    return this.#writer.write(type, body);
  }

  /**
   * Variant of `write` for a body that may be large and consist of several parts. Yields between pieces of work, so
   * that other requests can run. The caller must not add another object before the generator ends.
   */
  writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    this.#refuseUnlessOpen();
    return this.#writer.writeSteps(type, parts);
  }

  /**
   * Calls `fill`, which adds all objects of a pack through the writer. If `fill` throws, some objects of the pack may
   * be missing; the quarantine can then only be discarded.
   */
  async fill<T>(fill: (writer: ObjectWriter, limits: StoreLimits) => Promise<T>): Promise<T> {
    this.#refuseUnlessOpen();
    this.#state = 'broken';
    const result = await fill(this.#writer, this.limits);
    this.#state = 'open';
    return result;
  }

  /**
   * Throws `MissingObject` if something reachable from `tips` (objects that refs will name) is missing. If nothing is
   * missing, the cost does not depend on the number of published objects.
   */
  async checkConnectivity(tips: Iterable<Oid>): Promise<void> {
    for (const missing of (await this.findUnconnected(tips)).values()) throw missing;
  }

  /**
   * Checks each of the `tips` (objects that refs will name) separately. Returns the tips from which a missing object is
   * reachable. The error of each tip names the missing object.
   */
  findUnconnected(tips: Iterable<Oid>): Promise<Map<Oid, MissingObject>> {
    this.#refuseUnlessOpen();
    return this.#runYielding(this.#connectivity.failures(tips));
  }

  /**
   * Returns the error for the first missing object that is reachable from a new object; undefined if all new objects
   * are complete.
   *
   * New objects that no ref will name are checked too. A client can request any published object by its id, and readers
   * rely on all objects that it refers to being present.
   */
  findMissing(): Promise<MissingObject | undefined> {
    this.#refuseUnlessOpen();
    return this.#runYielding(this.#connectivity.firstMissing());
  }

  /**
   * Records the object at the end of the tag chain for each new annotated tag that refers to another tag. Later
   * requests then find this object with one lookup. Must be called after the connectivity check, because all objects of
   * the chain must be present.
   */
  async peelTags(): Promise<void> {
    const { edges } = this.#writer;
    if (edges.hasTagOfTag || edges.isDoubtful) await this.#runYielding(peelNewTags(this.stored, this, this.base));
  }

  /** Makes all new objects visible to readers of the store in one step, and ends the quarantine. */
  publish(): void {
    this.#refuseUnlessOpen();
    this.#state = 'closed';
    this.#closedSize = this.stored.count;
    this.#connectivity.publish();
    this.stored.publish(this.base, this.#writer.slots);
    this.close();
  }

  /** Removes all new objects and ends the quarantine. Does nothing if the quarantine has already ended. */
  discard(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#closedSize = this.base;
    this.stored.truncate(this.before);
    this.close();
  }

  [Symbol.dispose](): void {
    this.discard();
  }

  get size(): number {
    return this.#state === 'closed' ? this.#closedSize : this.stored.count;
  }

  findRaw(bytes: Uint8Array, at: number): number {
    const number = this.#writer.find(bytes, at);
    return number < this.size ? number : -1;
  }

  #runYielding<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, new Meter({ schedule: this.stored.schedule }));
  }

  #refuseUnlessOpen(): void {
    if (this.#state === 'broken') throw new Error('this quarantine holds part of a pack and can only be discarded');
    if (this.#state === 'closed') throw new Error('this quarantine is closed');
  }
}
