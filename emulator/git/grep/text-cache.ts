import { BLOB, type ObjectReader, type Oid } from '../object.js';
import { PathList } from '../path-list.js';
import type { Meter } from '../schedule/meter.js';
import { atOnce, type Steps } from '../schedule/steps.js';
import { MODE_EXECUTABLE, MODE_FILE } from '../tree.js';
import { TreeWalk } from '../tree-walk.js';
import { SearchText } from './search-text.js';

/** The regular files of a tree in index order, with the numbers of their blobs. */
export interface Listing {
  readonly paths: PathList;
  readonly numbers: Int32Array;
}

export interface TextCacheOptions {
  /** Bytes of text kept between searches. */
  readonly bytes?: number;
  /** Bytes; larger files are not searched. */
  readonly maxFileBytes?: number;
}

/** Git calls a file binary when its first 8000 bytes hold a NUL. */
const BINARY_PROBE = 8000;
/** Bytes that are decoded without a pause, in a tenth of a millisecond. */
const MOST_AT_ONCE = 1 << 16;
const LISTINGS = 4;

/**
 * What searches of one repository share: decoded texts and listings of trees. Blobs never change, so
 * nothing in here is ever wrong; it only takes memory, up to its bounds.
 */
export class TextCache {
  readonly #capacity: number;
  readonly #maxFileBytes: number;
  readonly #texts = new Map<number, { readonly text: SearchText; search: number }>();
  readonly #listings = new Map<Oid, Listing>();
  /** Blobs that are binary or too large: one bit of knowledge each, worth keeping for ever. */
  readonly #skipped = new Set<number>();
  #bytes = 0;
  #search = 0;

  constructor(
    private readonly objects: ObjectReader,
    options: TextCacheOptions = {},
  ) {
    this.#capacity = options.bytes ?? 64 << 20;
    this.#maxFileBytes = options.maxFileBytes ?? 16 << 20;
  }

  /** Marks the start of a search; texts it uses are not dropped for texts it uses later. */
  begin(): void {
    this.#search++;
  }

  async listing(tree: Oid, meter: Meter): Promise<Listing> {
    const known = this.#listings.get(tree);
    if (known !== undefined) return known;
    const paths = new PathList();
    const numbers: number[] = [];
    const walk = new TreeWalk(this.objects, tree);
    while (walk.step()) {
      meter.spend(walk.cost);
      if (meter.isOver) await meter.pass();
      if (!walk.isFound || (walk.mode !== MODE_FILE && walk.mode !== MODE_EXECUTABLE)) continue;
      paths.add(walk);
      numbers.push(this.objects.find(walk.oid));
    }
    const listing = { paths, numbers: Int32Array.from(numbers) };
    if (this.#listings.size >= LISTINGS) this.#listings.delete(this.#listings.keys().next().value!);
    this.#listings.set(tree, listing);
    return listing;
  }

  /** The text of blob `number`, if it is at hand. */
  kept(number: number): SearchText | undefined {
    const kept = this.#texts.get(number);
    if (kept !== undefined) this.#touch(number, kept);
    return kept?.text;
  }

  /** The text of blob `number`; undefined for what is not searched. */
  *read(number: number): Steps<SearchText | undefined> {
    if (number < 0 || this.#skipped.has(number)) return undefined;
    const text = yield* this.#decode(number);
    if (text === undefined) this.#skipped.add(number);
    else if (!this.#texts.has(number)) this.#keep(number, text);
    return text;
  }

  *#decode(number: number): Steps<SearchText | undefined> {
    if (this.objects.typeOf(number) !== BLOB || this.objects.sizeOf(number) > this.#maxFileBytes) return undefined;
    // The text is kept; the bytes need not be. A body decoded in one piece is only looked at.
    const isShort = this.objects.sizeOf(number) <= MOST_AT_ONCE;
    const body = isShort ? this.objects.peek(number) : this.objects.read(number);
    if (body.subarray(0, BINARY_PROBE).includes(0)) return undefined;
    if (isShort) return atOnce(SearchText.decode(body));
    return yield* SearchText.decode(body);
  }

  #touch(number: number, kept: { readonly text: SearchText; search: number }): void {
    if (kept.search === this.#search) return;
    kept.search = this.#search;
    this.#texts.delete(number);
    this.#texts.set(number, kept);
  }

  #keep(number: number, text: SearchText): void {
    for (const [oldest, { text: dropped, search }] of this.#texts) {
      if (this.#bytes + text.bytes <= this.#capacity) break;
      // A search that needs more than there is room for keeps what it has: else it would find nothing next time.
      if (search === this.#search) return;
      this.#texts.delete(oldest);
      this.#bytes -= dropped.bytes;
    }
    if (this.#bytes + text.bytes > this.#capacity) return;
    this.#texts.set(number, { text, search: this.#search });
    this.#bytes += text.bytes;
  }
}
