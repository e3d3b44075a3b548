import { type CacheGroup, type CacheRegion, costOfBuffer, ENTRY_BYTES } from '../../memory/memory-cache.js';
import type { TreeEntries } from '../object/tree-entries.js';
import type { LinkRecords } from './link-records.js';
import { NumberCache } from './number-cache.js';

/** What is kept of the objects of one table, by number, only to be fast. */
export class TableCaches {
  #bodies: NumberCache<Buffer> | undefined;
  #entries: NumberCache<TreeEntries> | undefined;
  #streams: CacheRegion<string, Buffer> | undefined;
  #links: CacheRegion<typeof ALL, LinkRecords> | undefined;
  /** Bytes of new bodies that are kept. */
  #newBytes = 0;

  constructor(readonly group: CacheGroup) {}

  /** Inflated bodies. */
  get bodies(): NumberCache<Buffer> {
    this.#bodies ??= new NumberCache(this.group, costOfBuffer);
    return this.#bodies;
  }

  /** Entries of trees. */
  get entries(): NumberCache<TreeEntries> {
    this.#entries ??= new NumberCache(this.group, ({ cells }) => cells.byteLength + ENTRY_BYTES);
    return this.#entries;
  }

  /** See `RepackCache`. */
  get streams(): CacheRegion<string, Buffer> {
    this.#streams ??= this.group.region(costOfBuffer);
    return this.#streams;
  }

  /** The records of all objects of the table, or nothing of them. */
  get links(): LinkRecords | undefined {
    return this.#links?.get(ALL);
  }

  keepLinks(records: LinkRecords): void {
    this.#links ??= this.group.region(({ heldBytes }) => heldBytes, LINKS_SHARE);
    this.#links.clear();
    this.#links.set(ALL, records);
  }

  /**
   * Keeps a copy of the body of a new object. Who pushes asks for some of it soon, and a pack begins with what is newest:
   * its first bodies are kept, so that they need not be inflated again.
   */
  keepNewBody(number: number, body: Buffer): void {
    if (this.#newBytes + body.length > this.group.capacity * NEW_SHARE) return;
    this.#newBytes += body.length;
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

/** The key of the one value of a region. */
const ALL = 0;
/** Of the whole cache, what the bodies that one push brings may take. */
const NEW_SHARE = 1 / 8;
/** Records of one table are one value, and worth more than what they push out: all else can be read again by their help. */
const LINKS_SHARE = 1 / 2;
