import { type CacheGroup, type CacheRegion, ENTRY_BYTES } from '../../memory/memory-cache.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { isBinary } from '../object/binary.js';
import { BLOB, type ObjectReader, type Oid } from '../object/object.js';
import { MODE_EXECUTABLE, MODE_FILE } from '../object/tree.js';
import { PathList } from '../pathspec/path-list.js';
import { TreeWalk } from '../pathspec/tree-walk.js';
import { SearchText } from './search-text.js';

/**
 * Regular files of a tree, in the order of Git's index. `numbers` identifies their blobs in the object store (indexes
 * into its tables).
 */
export interface Listing {
  readonly paths: PathList;
  readonly numbers: Int32Array;
}

/**
 * Maximum size in bytes of a file that is copied without yielding to the event loop. Copying this many bytes takes a
 * tenth of a millisecond.
 */
const MAX_AT_ONCE = 1 << 16;
/** Approximate memory in bytes of one cached path, without the characters of its names. */
const PATH_BYTES = 48;
const SKIPPED = Symbol('binary or too large');

/** Caches of texts and tree listings in one cache group. All object stores that share objects use one cache group. */
interface Kept {
  readonly texts: CacheRegion<number, SearchText | typeof SKIPPED>;
  readonly listings: CacheRegion<Oid, Listing>;
}

/** Key under which a cache group registers its `Kept` caches. */
const KEPT = {};

/**
 * Cache of file texts and tree listings, shared by all searches of one repository. Entries are never invalidated,
 * because objects never change. The cache regions limit the memory.
 */
export class TextCache {
  /** Cache group of the last lookup, and its caches. Usually, the next lookup is for the same group. */
  #caches: CacheGroup | undefined;
  #kept: Kept | undefined;
  /** Object that identifies the current search in the cache (see `begin`). */
  #search = {};

  constructor(
    private readonly objects: ObjectReader,
    /** Returns the cache group for the object with this number. It is the group of the stores that share the object. */
    private readonly cachesOf: (number: number) => CacheGroup,
    /** Maximum size in bytes of a file to search. Larger files are skipped. */
    private readonly maxFileBytes = requestLimit('grepFileBytes'),
  ) {}

  /** Starts a new search. Texts read later in this search do not evict texts that it read earlier. */
  begin(): void {
    this.#search = {};
  }

  async listing(tree: Oid, meter: Meter): Promise<Listing> {
    const number = this.objects.find(tree);
    // The store may lack the empty tree, because Git can always read it. Its listing is then not cached.
    const listings = number < 0 ? undefined : this.#keptOf(number).listings;
    const known = listings?.get(tree);
    if (known !== undefined) return known;
    const paths = new PathList();
    const numbers: number[] = [];
    const walk = new TreeWalk(this.objects, tree);
    while (walk.step()) {
      meter.spend(walk.cost);
      if (meter.shouldYield) await meter.yieldToEventLoop();
      if (!walk.isFound || (walk.mode !== MODE_FILE && walk.mode !== MODE_EXECUTABLE)) continue;
      paths.add(walk);
      numbers.push(this.objects.find(walk.oid));
    }
    const listing = { paths, numbers: Int32Array.from(numbers) };
    listings?.set(tree, listing);
    return listing;
  }

  /** Returns the size of a blob in bytes, given its object number; 0 if the blob is missing. */
  sizeOf(number: number): number {
    return number < 0 ? 0 : this.objects.sizeOf(number);
  }

  /**
   * Returns the texts of the blobs with these object numbers, in the same order. A text is undefined if its blob is
   * binary, too large or missing. Blobs that are not cached are read together.
   */
  async texts(numbers: readonly number[], meter: Meter): Promise<(SearchText | undefined)[]> {
    const texts: (SearchText | undefined)[] = [];
    const missing: number[] = [];
    for (const number of numbers) {
      const known = number < 0 ? SKIPPED : this.#keptOf(number).texts.get(number, this.#search);
      if (known === undefined) missing.push(number);
      texts.push(known === SKIPPED ? undefined : known);
    }
    if (missing.length === 0) return texts;
    const read = await this.#read(missing, meter);
    return texts.map((text, index) => text ?? read.get(numbers[index]!));
  }

  async #read(numbers: readonly number[], meter: Meter): Promise<Map<number, SearchText | undefined>> {
    const texts = new Map<number, SearchText | undefined>();
    const note = (number: number, body: Buffer | undefined, isOwn = false): void => {
      const text = body === undefined || isBinary(body) ? undefined : new SearchText(body, isOwn);
      texts.set(number, text);
      this.#keptOf(number).texts.set(number, text ?? SKIPPED, this.#search);
    };
    const isSearched = (number: number): boolean =>
      this.objects.typeOf(number) === BLOB && this.objects.sizeOf(number) <= this.maxFileBytes;
    const visit = this.objects.visitBodies?.(numbers.filter(isSearched), note);
    if (visit !== undefined) await runYielding(visit, meter);
    for (const number of numbers) {
      if (texts.has(number)) continue;
      if (!isSearched(number)) note(number, undefined);
      else if (this.objects.sizeOf(number) > MAX_AT_ONCE) {
        note(number, await runYielding(this.objects.readSteps(number), meter), true);
      } else this.objects.peek(number, (body) => note(number, body));
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
    return texts;
  }

  #keptOf(number: number): Kept {
    const caches = this.cachesOf(number);
    if (this.#kept === undefined || caches !== this.#caches) {
      this.#caches = caches;
      this.#kept = caches.shared<Kept>(KEPT, () => ({
        texts: caches.region((text) => ENTRY_BYTES + (text === SKIPPED ? 0 : text.bytes)),
        listings: caches.region(costOfListing),
      }));
    }
    return this.#kept;
  }
}

function costOfListing({ paths }: Listing): number {
  return ENTRY_BYTES + paths.nameBytes + (paths.names.length + paths.folderNames.length) * PATH_BYTES;
}
