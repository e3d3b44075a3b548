import type { ByteString } from '../git/bytes.js';
import { type Oid, TAG, ZERO_OID } from '../git/object.js';
import type { Refs } from '../git/refs/refs.js';
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

/** Different listings kept of one state of the refs. */
const MOST_LISTINGS = 16;
/** Beyond this a list of prefixes is no habit of clients, and longer than most listings. */
const MOST_KEPT_PREFIXES = 64;

/**
 * Listings of refs, kept as bytes for as long as the refs are the same: clients ask for the same few
 * over and over, and with thousands of refs making them is all the work there is.
 */
export class RefListings {
  readonly #kept = new WeakMap<Refs, Map<string, Listing>>();
  readonly #peeled = new WeakMap<GitRepository, Map<Oid, Oid | undefined>>();

  /** The lines of a version 2 `ls-refs` answer, without the flush. */
  lsRefs(view: RepositoryView, options: LsRefsOptions): Buffer {
    const { repository, prefix } = view;
    const { refs } = repository;
    const make = () => Buffer.from(this.#writeLsRefs(repository, refs, prefix, options), 'latin1');
    if (options.prefixes.length > MOST_KEPT_PREFIXES) return make();
    return this.#keep(refs, JSON.stringify(['ls-refs', prefix, options]), make);
  }

  /**
   * The refs in the form of versions 0 and 1. For a fetch HEAD comes first and each annotated tag is
   * followed by what it leads to; for a push into a namespace, what lies outside is listed as `.have`.
   */
  advertisement(view: RepositoryView, service: 'upload-pack' | 'receive-pack'): Advertisement {
    const { repository, prefix } = view;
    const { refs } = repository;
    return this.#keep(refs, JSON.stringify([service, prefix]), () => {
      const lines = service === 'upload-pack' ? this.#fetchLines(repository, refs, prefix) : pushLines(refs, prefix);
      const first = lines.next().value ?? `${ZERO_OID} capabilities^{}`;
      return { first, rest: Buffer.from([...lines].map((line) => packetText(`${line}\n`)).join(''), 'latin1') };
    });
  }

  /** The annotated tags under `refs/tags/` that lead somewhere. */
  annotatedTags({ repository, prefix }: RepositoryView): readonly AnnotatedTag[] {
    const { refs, objects } = repository;
    return this.#keep(refs, JSON.stringify(['annotated tags', prefix]), () => {
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
    const known = entryOf(this.#peeled, repository, () => new Map<Oid, Oid | undefined>());
    if (!known.has(oid)) known.set(oid, peelOrNothing(repository, oid));
    return known.get(oid);
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

  #keep<T extends Listing>(refs: Refs, key: string, make: () => T): T {
    const kept = entryOf(this.#kept, refs, () => new Map<string, Listing>());
    const known = kept.get(key);
    if (known) return known as T;
    const made = make();
    if (kept.size === MOST_LISTINGS) kept.delete(kept.keys().next().value!);
    kept.set(key, made);
    return made;
  }
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

function entryOf<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function peelOrNothing(repository: GitRepository, oid: Oid): Oid | undefined {
  try {
    return peel(repository.objects, oid);
  } catch {
    return undefined;
  }
}
