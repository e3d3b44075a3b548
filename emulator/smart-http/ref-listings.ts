import { type ByteString, bytesOf, concatBytes, latin1, NO_BYTES } from '../git/object/bytes.js';
import { type Oid, TAG, ZERO_OID } from '../git/object/object.js';
import { byBytes, sortInSteps } from '../git/object/sort.js';
import { tagTarget } from '../git/object/tag.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';
import { type CacheRegion, ENTRY_BYTES } from '../memory/memory-cache.js';
import { COST } from '../schedule/cost.js';
import type { Meter } from '../schedule/meter.js';
import { runYielding, type Steps } from '../schedule/steps.js';
import { lineText } from './pkt-line.js';
import { type RepositoryView, visibleHead, visibleRefs } from './view.js';

/** Options that a client sends with an `ls-refs` request (gitprotocol-v2). */
export interface LsRefsOptions {
  readonly peel: boolean;
  readonly symrefs: boolean;
  readonly unborn: boolean;
  /** Prefixes that select the refs to list. An empty list selects all refs. */
  readonly prefixes: readonly ByteString[];
}

/**
 * Ref listing of protocol versions 0 and 1. The first line is separate, because the capabilities are appended to it.
 */
export interface Advertisement {
  /** First line without packet framing: `<oid> SP <name>`. */
  readonly first: ByteString;
  /** All other lines, encoded as packets. */
  readonly rest: Buffer;
}

/** Annotated tag, and the object at the end of its chain. A tag can point to another tag, so that tags form a chain. */
export interface AnnotatedTag {
  readonly oid: Oid;
  /** Number of the object at the end of the chain. Object numbers are indexes into the tables of the object store. */
  readonly target: number;
}

type Listing = Buffer | Advertisement | readonly AnnotatedTag[];

/** Cached listings of one repository. */
interface KeptListings {
  /** Version of the refs to which the listings belong. The listings are discarded when the refs change. */
  refs: Refs | undefined;
  readonly listings: CacheRegion<string, Listing>;
  /**
   * For each annotated tag, the id of the object at the end of its chain of tags. null if an object of the chain is
   * missing or malformed.
   */
  readonly peeled: CacheRegion<Oid, Oid | null>;
}

/**
 * Generator that writes a listing. It yields lines, and in between numbers: the CPU work done since the last one (see
 * `Meter`), so that other requests can run.
 */
type Lines = Generator<ByteString | number, void, void>;
const SPACE = bytesOf(' ');
const TAGS = bytesOf('refs/tags/');
/** Number of characters to collect before they are encoded as bytes. */
const BATCH = 64 * 1024;

/** Approximate memory of one cached annotated tag, in bytes. */
const TAG_BYTES = 100;
/**
 * Maximum number of prefixes in a request whose listing is cached. Normal clients send fewer. The prefixes are part of
 * the cache key, so a longer list would take more memory than most listings.
 */
const MAX_KEPT_PREFIXES = 64;

/**
 * Cache of ref listings in encoded form. A listing is valid until the refs of its repository change. Clients keep
 * requesting the same few listings, and with thousands of refs, writing the listing is the main cost of a request.
 */
export class RefListings {
  readonly #kept = new WeakMap<GitRepository, KeptListings>();

  /** Returns the response to `ls-refs` of protocol version 2 as packets. The final flush packet is not included. */
  lsRefs(view: RepositoryView, options: LsRefsOptions, meter: Meter): Promise<Buffer> {
    const { repository, prefix } = view;
    const { refs } = repository;
    const make = () => runYielding(this.#writeLsRefs(repository, refs, prefix, options), meter);
    if (options.prefixes.length > MAX_KEPT_PREFIXES) return make();
    return this.#keep(repository, refs, JSON.stringify(['ls-refs', prefix, options]), make);
  }

  /**
   * Returns the ref listing for protocol versions 0 and 1. For a fetch, HEAD comes first, and each annotated tag is
   * followed by a line with the object at the end of its chain of tags. For a push into a ref namespace, refs outside
   * the namespace are listed as `.have`, so that the client need not send their objects.
   */
  advertisement(view: RepositoryView, service: 'upload-pack' | 'receive-pack', meter: Meter): Promise<Advertisement> {
    const { repository, prefix } = view;
    const { refs } = repository;
    const lines = service === 'upload-pack' ? this.#fetchLines(repository, refs, prefix) : pushLines(refs, prefix);
    return this.#keep(repository, refs, JSON.stringify([service, prefix]), () =>
      runYielding(writeAdvertisement(lines), meter),
    );
  }

  /** Returns the annotated tags below `refs/tags/` that finally point at an existing object. */
  annotatedTags({ repository, prefix }: RepositoryView, meter: Meter): Promise<readonly AnnotatedTag[]> {
    const { refs } = repository;
    return this.#keep(repository, refs, JSON.stringify(['annotated tags', prefix]), () =>
      runYielding(this.#listTags(repository, refs, prefix), meter),
    );
  }

  *#listTags(repository: GitRepository, refs: Refs, prefix: ByteString): Steps<AnnotatedTag[]> {
    const tags: AnnotatedTag[] = [];
    for (const [, oid] of visibleRefs(refs, prefix, TAGS)) {
      yield COST.entry;
      const peeled = yield* this.#peeled(repository, oid);
      if (peeled !== undefined) tags.push({ oid, target: repository.objects.find(peeled) });
    }
    return tags;
  }

  /**
   * Returns the object at the end of the chain of tags that begins with `oid`. Returns undefined if `oid` is not a tag,
   * or if an object of the chain is missing. Caches the result for every tag of the chain, because each may have its
   * own ref.
   */
  *#peeled(repository: GitRepository, oid: Oid): Steps<Oid | undefined> {
    const { objects } = repository;
    const { peeled } = this.#of(repository);
    const chain: Oid[] = [];
    let target: Oid | null = oid;
    while (target !== null) {
      const number = objects.find(target);
      if (number >= 0 && objects.typeOf(number) !== TAG) break;
      const known: Oid | null | undefined = number < 0 ? null : peeled.get(target);
      if (known !== undefined) {
        target = known;
        break;
      }
      chain.push(target);
      target = targetOf(objects.read(number));
      yield COST.object;
    }
    for (const tag of chain) peeled.set(tag, target);
    return target === null || target === oid ? undefined : target;
  }

  *#fetchLines(repository: GitRepository, refs: Refs, prefix: ByteString): Lines {
    const head = visibleHead(refs, prefix)?.oid;
    if (head) yield latin1`${head} HEAD`;
    for (const [name, oid] of visibleRefs(refs, prefix)) {
      yield concatBytes(oid, SPACE, name);
      const peeled = yield* this.#peeled(repository, oid);
      if (peeled) yield latin1`${peeled} ${name}^{}`;
    }
  }

  /**
   * Writes an `ls-refs` response. Each line is `ref = PKT-LINE(obj-id-or-unborn SP refname *(SP ref-attribute) LF)`
   * (gitprotocol-v2).
   */
  *#writeLsRefs(repository: GitRepository, refs: Refs, prefix: ByteString, options: LsRefsOptions): Steps<Buffer> {
    const lines = new LineBuffer();
    const listings = this;
    const peeled = function* (oid: Oid): Steps<ByteString> {
      const target = options.peel ? yield* listings.#peeled(repository, oid) : undefined;
      return target ? latin1` peeled:${target}` : NO_BYTES;
    };
    const head = visibleHead(refs, prefix);
    const starts = yield* shortestPrefixes(options.prefixes);
    if (head && starts.some((start) => 'HEAD'.startsWith(start))) {
      const target = options.symrefs && head.symref !== undefined ? latin1` symref-target:${head.symref}` : NO_BYTES;
      if (head.oid) lines.add(latin1`${head.oid} HEAD${target}${yield* peeled(head.oid)}`);
      else if (options.unborn && target) lines.add(latin1`unborn HEAD${target}`);
    }
    for (const start of starts) {
      yield COST.entry;
      for (const [name, oid] of visibleRefs(refs, prefix, start)) {
        lines.add(concatBytes(concatBytes(oid, SPACE, name), yield* peeled(oid)));
        yield COST.entry;
      }
    }
    return lines.finish();
  }

  async #keep<T extends Listing>(
    repository: GitRepository,
    refs: Refs,
    key: string,
    make: () => Promise<T>,
  ): Promise<T> {
    const kept = this.#of(repository);
    if (kept.refs !== refs) {
      kept.refs = refs;
      kept.listings.clear();
    }
    const known = kept.listings.get(key);
    if (known) return known as T;
    const made = await make();
    // Caches the listing only if the refs have not changed while it was written. Otherwise it is already outdated.
    if (kept.refs === refs) kept.listings.set(key, made);
    return made;
  }

  #of(repository: GitRepository): KeptListings {
    let kept = this.#kept.get(repository);
    if (kept === undefined) {
      const { caches } = repository.objects;
      kept = { refs: undefined, listings: caches.region(costOfListing), peeled: caches.region(() => TAG_BYTES) };
      this.#kept.set(repository, kept);
    }
    return kept;
  }
}

/** Returns the approximate memory that a cached listing uses, in bytes. */
function costOfListing(listing: Listing): number {
  if (Buffer.isBuffer(listing)) return ENTRY_BYTES + listing.length;
  return ENTRY_BYTES + ('first' in listing ? listing.rest.length : listing.length * TAG_BYTES);
}

function* writeAdvertisement(lines: Lines): Steps<Advertisement> {
  let first: ByteString | undefined;
  const rest = new LineBuffer();
  for (const line of lines) {
    if (typeof line === 'number') {
      yield line;
      continue;
    }
    yield COST.entry;
    if (first === undefined) first = line;
    else rest.add(line);
  }
  return { first: first ?? latin1`${ZERO_OID} capabilities^{}`, rest: rest.finish() };
}

/**
 * Yields the lines of the ref advertisement for a push. In a ref namespace, the objects of refs outside it are listed
 * as `.have`.
 */
function* pushLines(refs: Refs, prefix: ByteString): Lines {
  const shown = new Set<Oid>();
  for (const [name, oid] of visibleRefs(refs, prefix)) {
    shown.add(oid);
    yield concatBytes(oid, SPACE, name);
  }
  if (prefix === '') return;
  for (const [, oid] of visibleRefs(refs, NO_BYTES)) {
    if (shown.has(oid)) {
      yield COST.operation;
      continue;
    }
    shown.add(oid);
    yield latin1`${oid} .have`;
  }
}

/**
 * Returns the prefixes in byte order, without those that start with another prefix. Each ref then matches at most one
 * prefix and is listed once: `a`, `ab`, `b` → `a`, `b`.
 */
function* shortestPrefixes(prefixes: readonly ByteString[]): Steps<ByteString[]> {
  if (prefixes.length === 0) return [NO_BYTES];
  const shortest: ByteString[] = [];
  for (const prefix of yield* sortInSteps(prefixes, byBytes)) {
    yield COST.operation;
    const last = shortest.at(-1);
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix);
  }
  return shortest;
}

/**
 * Collects the lines of a listing and encodes them as packets in large batches. This is faster than encoding each line.
 */
class LineBuffer {
  readonly #parts: Buffer[] = [];
  #text = '';

  add(line: ByteString): void {
    this.#text += lineText(line);
    if (this.#text.length >= BATCH) this.#encode();
  }

  finish(): Buffer {
    this.#encode();
    return this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
  }

  #encode(): void {
    this.#parts.push(Buffer.from(this.#text, 'latin1'));
    this.#text = '';
  }
}

function targetOf(tag: Buffer): Oid | null {
  try {
    return tagTarget(tag);
  } catch {
    return null;
  }
}
