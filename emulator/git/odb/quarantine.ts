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
 * Transaction of new objects; the only way to add objects. Its reader sees the published objects and the new ones,
 * whose numbers start at `base`. The store shows the new objects after `publish`, and never after `discard`.
 */
export class Quarantine extends StoreReader {
  readonly base: number;
  readonly #writer: ObjectWriter;
  readonly #connectivity: Connectivity;
  #state: 'open' | 'broken' | 'closed' = 'open';
  /** Number of visible objects once it is closed. */
  #closedSize = 0;

  constructor(
    objects: StoredObjects,
    /** Fill level of the published objects. */
    private readonly before: Extent,
    private readonly limits: StoreLimits,
    hash: HashBytes,
    /** Called when the quarantine ends, whether the new objects were published or discarded. */
    private readonly close: () => void,
  ) {
    super(objects);
    this.base = before.count;
    this.#writer = new ObjectWriter(objects, limits, hash);
    this.#connectivity = new Connectivity(this.#writer, this.base);
  }

  /**
   * Adds an object unless it is already stored. Returns its id. `body` is copied. Throws `ObjectTooLarge`, and
   * `StoreFull` if the memory budget is used up.
   */
  write(type: TypeCode, body: Buffer): Oid {
    this.#refuseUnlessOpen();
    return this.#writer.write(type, body);
  }

  /**
   * Same as `write`, for a body that may be large and in parts. Yields while it works. Nothing else may be written
   * meanwhile.
   */
  writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    this.#refuseUnlessOpen();
    return this.#writer.writeSteps(type, parts);
  }

  /** Runs `fill`, which stores many objects through the writer. If it throws, the quarantine can only be discarded. */
  async fill<T>(fill: (writer: ObjectWriter, limits: StoreLimits) => Promise<T>): Promise<T> {
    this.#refuseUnlessOpen();
    this.#state = 'broken';
    const result = await fill(this.#writer, this.limits);
    this.#state = 'open';
    return result;
  }

  /**
   * Throws `MissingObject` unless everything reachable from `tips` is present. While nothing is missing, the cost does
   * not depend on the size of the repository.
   */
  async checkConnectivity(tips: Iterable<Oid>): Promise<void> {
    for (const missing of (await this.findUnconnected(tips)).values()) throw missing;
  }

  /**
   * Same as `checkConnectivity`, for each of many tips. Returns the tips that lead to a missing object, with its error.
   */
  findUnconnected(tips: Iterable<Oid>): Promise<Map<Oid, MissingObject>> {
    this.#refuseUnlessOpen();
    return this.#inSlices(this.#connectivity.failures(tips));
  }

  /**
   * Returns the first missing object that a new object leads to, whether or not a tip leads to it; undefined if the new
   * objects are complete. Published objects can be requested by id, so readers rely on all their targets being present.
   */
  findMissing(): Promise<MissingObject | undefined> {
    this.#refuseUnlessOpen();
    return this.#inSlices(this.#connectivity.firstMissing());
  }

  /**
   * Records the end of each new chain of tags; yields while it works. Everything reachable from the tags must be
   * present.
   */
  async peelTags(): Promise<void> {
    const { edges } = this.#writer;
    if (edges.hasTagOfTag || edges.isDoubtful) await this.#inSlices(peelNewTags(this.stored, this, this.base));
  }

  /** Makes all new objects visible at once. */
  publish(): void {
    this.#refuseUnlessOpen();
    this.#state = 'closed';
    this.#closedSize = this.stored.count;
    this.#connectivity.publish();
    this.stored.publish(this.base, this.#writer.slots);
    this.close();
  }

  /** Removes all new objects. Does nothing after `publish` or another `discard`. */
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

  #inSlices<T>(steps: Steps<T>): Promise<T> {
    return runYielding(steps, new Meter({ schedule: this.stored.schedule }));
  }

  #refuseUnlessOpen(): void {
    if (this.#state === 'broken') throw new Error('this quarantine holds part of a pack and can only be discarded');
    if (this.#state === 'closed') throw new Error('this quarantine is closed');
  }
}
