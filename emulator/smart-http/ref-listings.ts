import { type ByteString, bytesOf, concatBytes, latin1, NO_BYTES } from '../git/object/bytes.js';
import { type Oid, TAG, ZERO_OID } from '../git/object/object.js';
import { byBytes, sortInSteps } from '../git/object/sort.js';
import { tagTarget } from '../git/object/tag.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';
import { type CacheRegion, ENTRY_BYTES } from '../memory/memory-cache.js';
import { COST } from '../schedule/cost.js';
import type { Meter } from '../schedule/meter.js';
import { inSlices, type Steps } from '../schedule/steps.js';
import { lineText } from './pkt-line.js';
import { type RepositoryView, visibleHead, visibleRefs } from './view.js';

/** What `ls-refs` was asked for. */
export interface LsRefsOptions {
  readonly peel: boolean;
  readonly symrefs: boolean;
  readonly unborn: boolean;
  /** Show only refs that start with one of these; empty shows all. */
  readonly prefixes: readonly ByteString[];
}

/** The refs as versions 0 and 1 list them: the first line is apart because capabilities follow it. */
export interface Advertisement {
  /** `<oid> SP <name>` */
  readonly first: ByteString;
  /** The other lines as packets. */
  readonly rest: Buffer;
}

/** An annotated tag and what it leads to. */
export interface AnnotatedTag {
  readonly oid: Oid;
  /** The number of the object that is no tag any more. */
  readonly target: number;
}

type Listing = Buffer | Advertisement | readonly AnnotatedTag[];

/** What is kept of one repository. */
interface KeptListings {
  /** The state of the refs that the listings are of. */
  refs: Refs | undefined;
  readonly listings: CacheRegion<string, Listing>;
  /** By annotated tag what it leads to; null: to nothing. */
  readonly peeled: CacheRegion<Oid, Oid | null>;
}

/** Lines, and between them units of work. */
type Lines = Generator<ByteString | number, void, void>;
const SPACE = bytesOf(' ');
const TAGS = bytesOf('refs/tags/');
/** Characters put together before they are encoded. */
const BATCH = 64 * 1024;

/** About what an annotated tag takes that is kept. */
const TAG_BYTES = 100;
/** Beyond this a list of prefixes is no habit of clients, and longer than most listings. */
const MOST_KEPT_PREFIXES = 64;

/**
 * Listings of refs, kept as bytes as long as the refs are the same and there is room: clients ask for the same few
 * over and over, and with thousands of refs making them is all the work there is.
 */
export class RefListings {
  readonly #kept = new WeakMap<GitRepository, KeptListings>();

  /** The lines of a version 2 `ls-refs` answer, without the flush. */
  lsRefs(view: RepositoryView, options: LsRefsOptions, meter: Meter): Promise<Buffer> {
    const { repository, prefix } = view;
    const { refs } = repository;
    const make = () => inSlices(this.#writeLsRefs(repository, refs, prefix, options), meter);
    if (options.prefixes.length > MOST_KEPT_PREFIXES) return make();
    return this.#keep(repository, refs, JSON.stringify(['ls-refs', prefix, options]), make);
  }

  /**
   * The refs in the form of versions 0 and 1. For a fetch HEAD comes first and each annotated tag is
   * followed by what it leads to; for a push into a namespace, what lies outside is listed as `.have`.
   */
  advertisement(view: RepositoryView, service: 'upload-pack' | 'receive-pack', meter: Meter): Promise<Advertisement> {
    const { repository, prefix } = view;
    const { refs } = repository;
    const lines = service === 'upload-pack' ? this.#fetchLines(repository, refs, prefix) : pushLines(refs, prefix);
    return this.#keep(repository, refs, JSON.stringify([service, prefix]), () =>
      inSlices(writeAdvertisement(lines), meter),
    );
  }

  /** The annotated tags under `refs/tags/` that lead somewhere. */
  annotatedTags({ repository, prefix }: RepositoryView, meter: Meter): Promise<readonly AnnotatedTag[]> {
    const { refs } = repository;
    return this.#keep(repository, refs, JSON.stringify(['annotated tags', prefix]), () =>
      inSlices(this.#listTags(repository, refs, prefix), meter),
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
   * What an annotated tag leads to; undefined for other objects, and for tags that lead nowhere. Of a chain of tags
   * every one is noted: each of them may have a ref.
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

  /** gitprotocol-v2: `ref = PKT-LINE(obj-id-or-unborn SP refname *(SP ref-attribute) LF)` */
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
    // The refs may have moved meanwhile.
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

/** In byte order and without those that another one covers, so that no ref matches two. */
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

/** Lines on their way to be packets. */
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
