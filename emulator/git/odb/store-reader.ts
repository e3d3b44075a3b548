import type { CacheGroup } from '../../memory/memory-cache.js';
import type { Steps } from '../../schedule/steps.js';
import type { CommitRecord, LinkReader, TreeDifference } from '../object/link-reader.js';
import type { Oid, TypeCode } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';
import type { TreeEntries } from '../object/tree-entries.js';
import type { TreeNames } from '../object/tree-names.js';
import { entriesOf } from './link-reader.js';
import type { StoredObjects } from './stored-objects.js';
import { visitBodies } from './visit-bodies.js';

/**
 * Read access to the objects of a store or of a quarantine. A quarantine contains the published objects and the new
 * objects of a push.
 */
export abstract class StoreReader implements LinkReader {
  readonly #raw = Buffer.alloc(OID_BYTES);

  /**
   * `stored` contains all objects, including those of a running push. Objects with a number of at least `size` are
   * hidden.
   */
  constructor(readonly stored: StoredObjects) {}

  abstract get size(): number;
  abstract findRaw(bytes: Uint8Array, at: number): number;

  find(oid: Oid): number {
    this.#raw.write(oid, 0, 'hex');
    return this.findRaw(this.#raw, 0);
  }

  findPrefix(prefix: string, limit: number): Oid[] {
    return this.stored.findPrefix(this.size, prefix, limit);
  }

  oidOf(number: number): Oid {
    return this.stored.oidOf(number);
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    this.stored.copyOid(number, target, at);
  }

  typeOf(number: number): TypeCode {
    return this.stored.typeOf(number);
  }

  sizeOf(number: number): number {
    return this.stored.sizeOf(number);
  }

  read(number: number): Buffer {
    return this.stored.read(number);
  }

  readSteps(number: number): Steps<Buffer> {
    return this.stored.readSteps(number);
  }

  peek<T>(number: number, look: (body: Buffer) => T): T {
    return this.stored.peek(number, look);
  }

  visitBodies(numbers: Iterable<number>, look: (number: number, body: Buffer) => void): Steps<void> {
    return visitBodies(this.stored, numbers, look);
  }

  peeledOf(number: number): number | undefined {
    return this.stored.peeledOf(number);
  }

  get names(): TreeNames {
    return this.stored.names;
  }

  entriesOf(tree: number): Steps<TreeEntries> {
    return entriesOf(this.stored, this, tree);
  }

  /**
   * Returns the difference of a tree from its delta base. Returns undefined if the tree was not received as a delta or
   * if its link record (decoded tree) is absent.
   */
  differenceOf(tree: number): TreeDifference | undefined {
    const { stored } = this;
    const records = stored.linksOf(tree);
    const place = stored.placeOf(tree);
    if (records === undefined || !records.needsBase(place)) return undefined;
    return {
      base: stored.baseOf(tree),
      eachOwn: (visit) => records.eachOwnRun(place, visit),
    };
  }

  hasRecord(object: number): boolean {
    return this.stored.linksOf(object) !== undefined;
  }

  recordOf(commit: number): CommitRecord | undefined {
    return this.stored.linksOf(commit)?.commitAt(this.stored.placeOf(commit));
  }

  /**
   * Returns the caches of data computed from the object `number`. Forks that share the object also share these caches.
   */
  cachesOf(number: number): CacheGroup {
    return this.stored.tableOf(number).caches.group;
  }
}
