import { Meter } from '../../schedule/meter.js';
import { inSlices, type Steps } from '../../schedule/steps.js';
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
 * The one way to add objects. Its reader sees the published objects and the new ones, whose numbers
 * start at `base`. The store shows the new ones after `publish`, and never after `discard`.
 */
export class Quarantine extends StoreReader {
  readonly base: number;
  readonly #writer: ObjectWriter;
  readonly #connectivity: Connectivity;
  #state: 'open' | 'broken' | 'closed' = 'open';
  /** Objects it shows once it is closed. */
  #closedSize = 0;

  constructor(
    objects: StoredObjects,
    /** What is published. */
    private readonly before: Extent,
    private readonly limits: StoreLimits,
    hash: HashBytes,
    /** Told of its end, whether the new objects were published or not. */
    private readonly close: () => void,
  ) {
    super(objects);
    this.base = before.count;
    this.#writer = new ObjectWriter(objects, limits, hash);
    this.#connectivity = new Connectivity(this.#writer, this.base);
  }

  /**
   * Adds an object unless it is known; returns its id. `body` is copied. Throws `ObjectTooLarge`, and
   * `StoreFull` when the memory budget is used up.
   */
  write(type: TypeCode, body: Buffer): Oid {
    this.#refuseUnlessOpen();
    return this.#writer.write(type, body);
  }

  /** As `write`, of a body that may be large and in parts, in steps. Nothing else may be written meanwhile. */
  writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    this.#refuseUnlessOpen();
    return this.#writer.writeSteps(type, parts);
  }

  /**
   * Runs `fill`, which stores many objects through the writer. When it throws, the quarantine can only be discarded.
   */
  async fill<T>(fill: (writer: ObjectWriter, limits: StoreLimits) => Promise<T>): Promise<T> {
    this.#refuseUnlessOpen();
    this.#state = 'broken';
    const result = await fill(this.#writer, this.limits);
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
    return this.#inSlices(this.#connectivity.failures(tips));
  }

  /**
   * What is missing of the new objects, whether a tip leads to it or not; undefined when they are whole. What is
   * published can be asked for by id, and readers rely on finding what it points at.
   */
  findMissing(): Promise<MissingObject | undefined> {
    this.#refuseUnlessOpen();
    return this.#inSlices(this.#connectivity.firstMissing());
  }

  /** Finds out, in slices, where new tags of tags lead in the end. Everything they lead to has to be there. */
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
    return inSlices(steps, new Meter({ schedule: this.stored.schedule }));
  }

  #refuseUnlessOpen(): void {
    if (this.#state === 'broken') throw new Error('this quarantine holds part of a pack and can only be discarded');
    if (this.#state === 'closed') throw new Error('this quarantine is closed');
  }
}
