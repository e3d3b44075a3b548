import type { ByteString } from '../bytes.js';
import { type CacheGroup, type CacheRegion, ENTRY_BYTES, MemoryCache } from '../memory-cache.js';
import { BLOB, type ObjectReader, type Oid } from '../object.js';
import type { Meter } from '../schedule/meter.js';
import { MODE_EXECUTABLE, MODE_FILE, walkTree } from '../tree.js';
import { SearchText } from './search-text.js';

/** The regular files of a tree in index order, with the numbers of their blobs. */
export interface Listing {
  readonly paths: readonly ByteString[];
  readonly numbers: Int32Array;
}

export interface TextCacheOptions {
  /** Bytes of text kept between searches, without `caches`. */
  readonly bytes?: number;
  readonly caches?: CacheGroup;
  /** Bytes; larger files are not searched. */
  readonly maxFileBytes?: number;
}

/** Git calls a file binary when its first 8000 bytes hold a NUL. */
const BINARY_PROBE = 8000;
/** About what a path takes, beside its characters. */
const PATH_BYTES = 40;
const SKIPPED = Symbol('binary or too large');

/**
 * What searches of one repository share: decoded texts and listings of trees. Blobs never change, so
 * nothing in here is ever wrong; it only takes memory, up to its bounds.
 */
export class TextCache {
  readonly #maxFileBytes: number;
  readonly #texts: CacheRegion<number, SearchText | typeof SKIPPED>;
  readonly #listings: CacheRegion<Oid, Listing>;
  /** The search under way. */
  #search = {};

  constructor(
    private readonly objects: ObjectReader,
    options: TextCacheOptions = {},
  ) {
    const caches = options.caches ?? new MemoryCache(options.bytes ?? 64 << 20).group();
    this.#texts = caches.region((text) => ENTRY_BYTES + (text === SKIPPED ? 0 : text.bytes));
    this.#listings = caches.region(costOfListing);
    this.#maxFileBytes = options.maxFileBytes ?? 16 << 20;
  }

  /** Marks the start of a search; texts it uses are not dropped for texts it uses later. */
  begin(): void {
    this.#search = {};
  }

  async listing(tree: Oid, meter: Meter): Promise<Listing> {
    const known = this.#listings.get(tree);
    if (known !== undefined) return known;
    const paths: ByteString[] = [];
    const numbers: number[] = [];
    for (const { path, mode, oid } of walkTree(this.objects, tree)) {
      if (meter.isOver) await meter.pass();
      if (mode !== MODE_FILE && mode !== MODE_EXECUTABLE) continue;
      paths.push(path);
      numbers.push(this.objects.find(oid));
    }
    const listing = { paths, numbers: Int32Array.from(numbers) };
    this.#listings.set(tree, listing);
    return listing;
  }

  /** The text of blob `number`; undefined for what is not searched. */
  text(number: number): SearchText | undefined {
    const kept = this.#texts.get(number, this.#search);
    if (kept !== undefined) return kept === SKIPPED ? undefined : kept;
    if (number < 0) return undefined;
    const text = this.#read(number);
    this.#texts.set(number, text ?? SKIPPED, this.#search);
    return text;
  }

  #read(number: number): SearchText | undefined {
    if (this.objects.typeOf(number) !== BLOB || this.objects.sizeOf(number) > this.#maxFileBytes) return undefined;
    // The text is kept; the bytes need not be.
    const body = this.objects.peek(number);
    return body.subarray(0, BINARY_PROBE).includes(0) ? undefined : new SearchText(body);
  }
}

function costOfListing({ paths }: Listing): number {
  let bytes = ENTRY_BYTES;
  for (const path of paths) bytes += path.length + PATH_BYTES;
  return bytes;
}
