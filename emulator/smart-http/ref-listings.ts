import type { ByteString } from '../git/bytes.js';
import { type CacheRegion, ENTRY_BYTES } from '../git/memory-cache.js';
import { type Oid, TAG, ZERO_OID } from '../git/object.js';
import type { Refs } from '../git/refs.js';
import type { GitRepository } from '../git/repository.js';
import { peel } from '../git/tag.js';
import { packetText } from './pkt-line.js';
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
  /** By annotated tag what it leads to, or `NOTHING`. */
  readonly peeled: CacheRegion<Oid, Oid>;
}

const NOTHING: Oid = '';

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
  lsRefs(view: RepositoryView, options: LsRefsOptions): Buffer {
    const { repository, prefix } = view;
    const { refs } = repository;
    const make = () => Buffer.from(this.#writeLsRefs(repository, refs, prefix, options), 'latin1');
    if (options.prefixes.length > MOST_KEPT_PREFIXES) return make();
    return this.#keep(repository, refs, JSON.stringify(['ls-refs', prefix, options]), make);
  }

  /**
   * The refs in the form of versions 0 and 1. For a fetch HEAD comes first and each annotated tag is
   * followed by what it leads to; for a push into a namespace, what lies outside is listed as `.have`.
   */
  advertisement(view: RepositoryView, service: 'upload-pack' | 'receive-pack'): Advertisement {
    const { repository, prefix } = view;
    const { refs } = repository;
    return this.#keep(repository, refs, JSON.stringify([service, prefix]), () => {
      const lines = service === 'upload-pack' ? this.#fetchLines(repository, refs, prefix) : pushLines(refs, prefix);
      const first = lines.next().value ?? `${ZERO_OID} capabilities^{}`;
      return { first, rest: Buffer.from([...lines].map((line) => packetText(`${line}\n`)).join(''), 'latin1') };
    });
  }

  /** The annotated tags under `refs/tags/` that lead somewhere. */
  annotatedTags({ repository, prefix }: RepositoryView): readonly AnnotatedTag[] {
    const { refs, objects } = repository;
    return this.#keep(repository, refs, JSON.stringify(['annotated tags', prefix]), () => {
      const tags: AnnotatedTag[] = [];
      for (const [, oid] of visibleRefs(refs, prefix, 'refs/tags/')) {
        const peeled = this.peeled(repository, oid);
        if (peeled !== undefined) tags.push({ oid, target: objects.find(peeled) });
      }
      return tags;
    });
  }

  /** What an annotated tag leads to; undefined for other objects, and for tags that lead nowhere. */
  peeled(repository: GitRepository, oid: Oid): Oid | undefined {
    const { objects } = repository;
    const number = objects.find(oid);
    if (number < 0 || objects.typeOf(number) !== TAG) return undefined;
    const { peeled } = this.#of(repository);
    const known = peeled.get(oid);
    if (known !== undefined) return known === NOTHING ? undefined : known;
    const target = peelOrNothing(repository, oid);
    peeled.set(oid, target ?? NOTHING);
    return target;
  }

  *#fetchLines(repository: GitRepository, refs: Refs, prefix: ByteString): IterableIterator<ByteString> {
    const head = visibleHead(refs, prefix)?.oid;
    if (head) yield `${head} HEAD`;
    for (const [name, oid] of visibleRefs(refs, prefix)) {
      yield `${oid} ${name}`;
      const peeled = this.peeled(repository, oid);
      if (peeled) yield `${peeled} ${name}^{}`;
    }
  }

  /** gitprotocol-v2: `ref = PKT-LINE(obj-id-or-unborn SP refname *(SP ref-attribute) LF)` */
  #writeLsRefs(repository: GitRepository, refs: Refs, prefix: ByteString, options: LsRefsOptions): ByteString {
    const lines: ByteString[] = [];
    const peeled = (oid: Oid) => {
      const target = options.peel ? this.peeled(repository, oid) : undefined;
      return target ? ` peeled:${target}` : '';
    };
    const head = visibleHead(refs, prefix);
    const starts = shortestPrefixes(options.prefixes);
    if (head && starts.some((start) => 'HEAD'.startsWith(start))) {
      const target = options.symrefs && head.symref !== undefined ? ` symref-target:${head.symref}` : '';
      if (head.oid) lines.push(packetText(`${head.oid} HEAD${target}${peeled(head.oid)}\n`));
      else if (options.unborn && target) lines.push(packetText(`unborn HEAD${target}\n`));
    }
    for (const start of starts) {
      for (const [name, oid] of visibleRefs(refs, prefix, start)) {
        lines.push(packetText(`${oid} ${name}${peeled(oid)}\n`));
      }
    }
    return lines.join('');
  }

  #keep<T extends Listing>(repository: GitRepository, refs: Refs, key: string, make: () => T): T {
    const kept = this.#of(repository);
    if (kept.refs !== refs) {
      kept.refs = refs;
      kept.listings.clear();
    }
    const known = kept.listings.get(key);
    if (known) return known as T;
    const made = make();
    kept.listings.set(key, made);
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

function* pushLines(refs: Refs, prefix: ByteString): IterableIterator<ByteString> {
  const shown = new Set<Oid>();
  for (const [name, oid] of visibleRefs(refs, prefix)) {
    shown.add(oid);
    yield `${oid} ${name}`;
  }
  if (prefix === '') return;
  for (const [, oid] of visibleRefs(refs, '')) {
    if (shown.has(oid)) continue;
    shown.add(oid);
    yield `${oid} .have`;
  }
}

/** In byte order and without those that another one covers, so that no ref matches two. */
function shortestPrefixes(prefixes: readonly ByteString[]): ByteString[] {
  if (prefixes.length === 0) return [''];
  const shortest: ByteString[] = [];
  for (const prefix of [...prefixes].sort()) {
    const last = shortest.at(-1);
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix);
  }
  return shortest;
}

function peelOrNothing(repository: GitRepository, oid: Oid): Oid | undefined {
  try {
    return peel(repository.objects, oid);
  } catch {
    return undefined;
  }
}
