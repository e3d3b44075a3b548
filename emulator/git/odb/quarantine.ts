import { Meter } from '../../schedule/meter.js';
import { inSlices, type Steps } from '../../schedule/steps.js';
import type { StoreLimits } from '../limits/store-limits.js';
import type { CommitRecord, LinkReader, TreeDifference } from '../object/link-reader.js';
import type { MissingObject, Oid, TypeCode } from '../object/object.js';
import type { HashBytes } from '../object/object-hash.js';
import { OID_BYTES } from '../object/oid-slots.js';
import type { TreeEntries } from '../object/tree-entries.js';
import type { TreeNames } from '../object/tree-names.js';
import { Connectivity } from './connectivity.js';
import { differenceOf, entriesOf, recordOf } from './link-reader.js';
import type { Extent } from './object-table.js';
import { ObjectWriter } from './object-writer.js';
import { peelNewTags } from './peeled-tags.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * The one way to add objects. Its reader sees the published objects and the new ones, whose numbers
 * start at `base`. The store shows the new ones after `publish`, and never after `discard`.
 */
export class Quarantine implements LinkReader {
  readonly base: number;
  readonly #objects: StoredObjects;
  readonly #writer: ObjectWriter;
  readonly #connectivity: Connectivity;
  readonly #raw = Buffer.alloc(OID_BYTES);
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
    this.base = before.count;
    this.#objects = objects;
    this.#writer = new ObjectWriter(this.#objects, limits, hash);
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

  /** As `writeSteps`, in slices. Throws what the meter throws, too. */
  writeInSlices(type: TypeCode, body: Buffer | readonly Buffer[], meter: Meter): Promise<Oid> {
    return inSlices(this.writeSteps(type, Buffer.isBuffer(body) ? [body] : body), meter);
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
    return this.#connectivity.failures(tips);
  }

  /**
   * What is missing of the new objects, whether a tip leads to it or not; undefined when they are whole. What is
   * published can be asked for by id, and readers rely on finding what it points at.
   */
  findMissing(): Promise<MissingObject | undefined> {
    this.#refuseUnlessOpen();
    return this.#connectivity.firstMissing();
  }

  /** Finds out, in slices, where new tags of tags lead in the end. Everything they lead to has to be there. */
  async peelTags(): Promise<void> {
    const { edges } = this.#writer;
    if (edges.hasTagOfTag || edges.isDoubtful)
      await inSlices(peelNewTags(this.#objects, this, this.base), new Meter({ schedule: this.#objects.schedule }));
  }

  /** Makes all new objects visible at once. */
  publish(): void {
    this.#refuseUnlessOpen();
    this.#state = 'closed';
    this.#closedSize = this.#objects.count;
    this.#connectivity.publish();
    this.#objects.publish(this.base, this.#writer.slots);
    this.close();
  }

  /** Removes all new objects. Does nothing after `publish` or another `discard`. */
  discard(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#closedSize = this.base;
    this.#objects.truncate(this.before);
    this.close();
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
    const number = this.#writer.find(bytes, at);
    return number < this.size ? number : -1;
  }

  findPrefix(prefix: string, limit: number): Oid[] {
    return this.#objects.findPrefix(this.size, prefix, limit);
  }

  oidOf(number: number): Oid {
    return this.#objects.oidOf(number);
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    this.#objects.copyOid(number, target, at);
  }

  typeOf(number: number): TypeCode {
    return this.#objects.typeOf(number);
  }

  sizeOf(number: number): number {
    return this.#objects.sizeOf(number);
  }

  read(number: number): Buffer {
    return this.#objects.read(number);
  }

  readSteps(number: number): Steps<Buffer> {
    return this.#objects.readSteps(number);
  }

  readInSlices(number: number, meter: Meter): Promise<Buffer> {
    return this.#objects.readInSlices(number, meter);
  }

  peek<T>(number: number, look: (body: Buffer) => T): T {
    return this.#objects.peek(number, look);
  }

  get names(): TreeNames {
    return this.#objects.names;
  }

  entriesOf(tree: number): Steps<TreeEntries> {
    return entriesOf(this.#objects, this, tree);
  }

  differenceOf(tree: number): TreeDifference | undefined {
    return differenceOf(this.#objects, tree);
  }

  hasRecord(object: number): boolean {
    return this.#objects.linksOf(object) !== undefined;
  }

  recordOf(commit: number): CommitRecord | undefined {
    return recordOf(this.#objects, commit);
  }

  peeledOf(number: number): number | undefined {
    return this.#objects.peeledOf(number);
  }

  #refuseUnlessOpen(): void {
    if (this.#state === 'broken') throw new Error('this quarantine holds part of a pack and can only be discarded');
    if (this.#state === 'closed') throw new Error('this quarantine is closed');
  }
}
