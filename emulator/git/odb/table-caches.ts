import { type CacheGroup, type CacheRegion, costOfBuffer, ENTRY_BYTES } from '../../memory/memory-cache.js';
import type { TreeEntries } from '../object/tree-entries.js';
import type { LinkRecords } from './link-records.js';
import { ObjectCache } from './object-cache.js';

/**
 * Caches of data computed from the objects of one object table (part of a store), by object number. Evicted values can
 * be computed again.
 */
export class TableCaches {
  #bodies: ObjectCache<Buffer> | undefined;
  #entries: ObjectCache<TreeEntries> | undefined;
  #streams: CacheRegion<string, Buffer> | undefined;
  #links: CacheRegion<typeof ALL, LinkRecords> | undefined;
  /** Total size in bytes of the bodies that were cached while the current pack was received. */
  #newBytes = 0;

  constructor(readonly group: CacheGroup) {}

  /** Cache of inflated object bodies, by object number. */
  get bodies(): ObjectCache<Buffer> {
    this.#bodies ??= new ObjectCache(this.group, costOfBuffer);
    return this.#bodies;
  }

  /** Cache of the decoded entries of trees, by the object number of the tree. */
  get entries(): ObjectCache<TreeEntries> {
    this.#entries ??= new ObjectCache(this.group, ({ cells }) => cells.byteLength + ENTRY_BYTES);
    return this.#entries;
  }

  /** Cache of objects and deltas that were compressed to be sent; see `RepackCache`. */
  get streams(): CacheRegion<string, Buffer> {
    this.#streams ??= this.group.region(costOfBuffer);
    return this.#streams;
  }

  /** Link records (decoded commits and trees) of all objects of the table; undefined if the cache has evicted them. */
  get links(): LinkRecords | undefined {
    return this.#links?.get(ALL);
  }

  keepLinks(records: LinkRecords): void {
    this.#links ??= this.group.region(({ heldBytes }) => heldBytes, LINKS_SHARE);
    this.#links.clear();
    this.#links.set(ALL, records);
  }

  /**
   * Caches a copy of the body of a newly received object, because the pushing client often requests some of these
   * objects soon. Only the first bodies of a pack are cached, up to a limit, because a pack begins with the newest
   * objects.
   */
  keepNewBody(number: number, body: Buffer): void {
    const cost = costOfBuffer(body);
    if (this.#newBytes + cost > this.group.capacity * NEW_SHARE) return;
    this.#newBytes += cost;
    this.bodies.set(number, Buffer.from(body));
  }

  publish(count: number): void {
    this.#newBytes = 0;
    this.bodies.publish(count);
    this.entries.publish(count);
  }

  renumber(first: number, moved: Int32Array): void {
    this.#bodies?.renumber(first, moved);
  }

  forgetQuarantine(): void {
    this.#newBytes = 0;
    this.#bodies?.forgetQuarantine();
  }
}

/** Key of the link records (decoded commits and trees) in their cache region. The region contains no other value. */
const ALL = 0;
/** Maximum share of the cache capacity for the bodies that are cached while one pack is received. */
const NEW_SHARE = 1 / 8;
/**
 * Maximum share of the cache capacity for the link records (decoded commits and trees) of one table. They are preferred
 * to other values, because the other values can be computed again with their help.
 */
const LINKS_SHARE = 1 / 2;
