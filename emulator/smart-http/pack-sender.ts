import { createHash } from 'node:crypto';
import { type Oid, TAG } from '../git/object/object.js';
import { tagTarget } from '../git/object/tag.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';
import type { SendPlan } from '../git/revwalk/send-plan.js';
import { ResponseCut } from '../http/response-cut.js';
import type { CacheRegion, MemoryCache } from '../memory/memory-cache.js';
import { lastUpTo, merged } from '../memory/sorted.js';
import { Meter } from '../schedule/meter.js';
import { type PreparedPack, sendBrokenPack } from './broken-pack.js';
import type { PackRequest } from './fetch-request.js';
import type { GitFacts, PackFacts } from './git-facts.js';
import type { WireFaults } from './git-faults.js';
import { bandPackets, FATAL, FLUSH, KEEP_ALIVE, packBand, progress } from './pkt-line.js';
import type { RefListings } from './ref-listings.js';
import type { RepositoryView } from './view.js';

/** Time in milliseconds without data after which a keep-alive packet is sent, as in Git. */
const KEEP_ALIVE_MILLISECONDS = 5_000;

const ABORTED = 'aborting due to possible repository corruption on the remote side.';

interface Sending {
  readonly signal: AbortSignal;
  /** Facts for the journal. The size of the pack is added to them. */
  readonly facts: GitFacts;
  readonly wire?: WireFaults | undefined;
}

/** Creates and sends the packs of fetches. Caches packs that were sent completely. */
export class PackSender {
  /**
   * Serial number of each version of a repository's refs. It is part of the cache key of a pack with `include-tag`,
   * whose content depends on the refs.
   */
  readonly #refsNumbers = new WeakMap<Refs, number>();
  #nextRefsNumber = 0;

  constructor(
    private readonly cache: PackCache,
    private readonly listings: RefListings,
  ) {}

  /**
   * Sends the packfile section of a fetch response: progress messages, the pack, and the final flush packet. `wire`
   * contains injected faults that change the bytes.
   */
  async *send(request: PackRequest, { signal, facts, wire }: Sending): AsyncIterable<Uint8Array> {
    const { view, sideband } = request;
    try {
      if (wire !== undefined) {
        const pack: PackFacts = { objects: 0, bytes: 0 };
        facts.pack = pack;
        const prepared = yield* this.#prepare(request, signal, pack);
        yield* sendBrokenPack(request, prepared, wire);
        return;
      }
      const key = this.#keyOf(request);
      const kept = this.cache.get(view.repository, key);
      if (kept) {
        facts.pack = { ...this.cache.factsOf(view.repository, key)! };
        yield* kept;
      } else {
        const pack: PackFacts = { objects: 0, bytes: 0 };
        facts.pack = pack;
        yield* this.cache.keeping(view.repository, key, this.#make(request, signal, pack), pack);
      }
    } catch (error) {
      // Closes the connection, because an error cannot be reported to the client without a side-band.
      if (sideband === 'none' || signal.aborted || error instanceof ResponseCut) throw error;
      yield* bandPackets(Buffer.from(ABORTED), FATAL, sideband);
      return;
    }
    if (sideband !== 'none') yield FLUSH;
  }

  async *#make(request: PackRequest, signal: AbortSignal, facts: PackFacts): AsyncIterable<Buffer> {
    const { numbers, options } = yield* this.#prepare(request, signal, facts);
    yield* packBand(counted(writePack(request.view.repository.objects, numbers, options), facts), request.sideband);
  }

  /** Computes the list of objects to send. Meanwhile yields keep-alive packets. */
  async *#prepare(request: PackRequest, signal: AbortSignal, facts: PackFacts): AsyncGenerator<Buffer, PreparedPack> {
    const { view, fetch, sideband } = request;
    const { objects } = view.repository;
    const work = planOf(request, signal);
    const plan = sideband === 'none' ? await work : yield* keepAlive(work, KEEP_ALIVE_MILLISECONDS, KEEP_ALIVE);
    const meter = new Meter({ schedule: objects.schedule, signal });
    const numbers = fetch.flags.has('include-tag')
      ? await followingTags(view, plan.objects, this.listings, meter)
      : plan.objects;
    facts.objects = numbers.length;
    if (!fetch.flags.has('no-progress')) yield* progress(`Enumerating objects: ${numbers.length}, done.\n`, sideband);
    const options = {
      ofsDelta: fetch.flags.has('ofs-delta'),
      previous: () => plan.previousVersions(),
      signal,
      ...(isThin(request) && { thin: (number: number) => plan.isHeld(number) }),
    };
    return { numbers, options };
  }

  /** Returns the cache key of a pack: a hash of everything that determines its bytes. */
  #keyOf({ view, fetch, haves, boundary, sideband }: PackRequest): string {
    const { flags, filter, wants, depth } = fetch;
    const chosen = ['thin-pack', 'ofs-delta', 'no-progress'].map((flag) => flags.has(flag));
    const hash = createHash('sha1');
    hash.update(JSON.stringify([...chosen, sideband, filter ?? null]));
    if (flags.has('include-tag')) hash.update(`${view.prefix} ${this.#numberOf(view.repository.refs)}`);
    for (const list of [wants, haves, boundary.boundary, depth.clientShallow])
      hash.update(`\n${[...list].sort().join()}`);
    return hash.digest('base64');
  }

  #numberOf(refs: Refs): number {
    let number = this.#refsNumbers.get(refs);
    if (number === undefined) {
      number = this.#nextRefsNumber++;
      this.#refsNumbers.set(refs, number);
    }
    return number;
  }
}

async function* counted(pack: AsyncIterable<Uint8Array>, facts: PackFacts): AsyncIterable<Uint8Array> {
  for await (const piece of pack) {
    facts.bytes += piece.length;
    yield piece;
  }
}

function planOf({ view, fetch, haves, boundary }: PackRequest, signal: AbortSignal): Promise<SendPlan> {
  return view.repository.history.plan(
    {
      wants: fetch.wants,
      // The client already has a commit that was shallow in its repository, and now receives the commit's parents.
      haves: [...haves, ...boundary.unshallow],
      boundary: boundary.boundary,
      clientShallow: fetch.depth.clientShallow,
      filter: fetch.filter,
    },
    new Meter({ schedule: view.repository.objects.schedule, signal }),
  );
}

/**
 * Returns true if the pack may be thin, which means that it may contain deltas whose bases only the client has. False
 * with an object filter: the client may then lack the bases, although it has their commits.
 */
function isThin({ fetch, haves }: PackRequest): boolean {
  return fetch.flags.has('thin-pack') && haves.size > 0 && !fetch.filter;
}

/**
 * Awaits `work` and returns its result. Meanwhile yields the packet `sign` every `every` milliseconds. Otherwise
 * proxies and users would assume that the connection is dead.
 */
export async function* keepAlive<T>(work: Promise<T>, every: number, sign: Buffer): AsyncGenerator<Buffer, T> {
  const ended = work.then(
    () => true,
    () => true,
  );
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, every, false);
    });
    const isOver = await Promise.race([ended, silence]);
    clearTimeout(timer);
    if (isOver) return work;
    yield sign;
  }
}

/**
 * Adds annotated tags to the list of objects to send. gitprotocol-capabilities, include-tag: "The server MUST send
 * annotated tags if we are sending the objects they point to." `numbers` must be in ascending order.
 */
export async function followingTags(
  view: RepositoryView,
  numbers: Int32Array,
  listings: RefListings,
  meter: Meter,
): Promise<Int32Array> {
  const added = new Set<number>();
  for (const { oid, target } of await listings.annotatedTags(view, meter)) {
    if (meter.shouldYield) await meter.yieldToEventLoop();
    if (!isAmong(numbers, target)) continue;
    for (const number of tagChain(view.repository, oid)) {
      // Stops at an object in `added`. Chains are added as a whole, so the rest of the chain was added too.
      if (added.has(number)) break;
      if (!isAmong(numbers, number)) added.add(number);
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
  }
  if (added.size === 0) return numbers;
  return merged(numbers, Int32Array.from(added).sort());
}

/** Returns true if the list, which must be ascending, contains the number. */
function isAmong(numbers: Int32Array, number: number): boolean {
  return numbers[lastUpTo(numbers, number)] === number;
}

/**
 * Yields the object numbers of an annotated tag and of the tags to which it points. (A tag can point to another tag.)
 */
function* tagChain({ objects }: GitRepository, oid: Oid): IterableIterator<number> {
  for (let number = objects.find(oid); objects.typeOf(number) === TAG; ) {
    yield number;
    number = objects.find(tagTarget(objects.read(number)));
  }
}

interface Finished {
  /** Facts about the pack. They are final, because the pack has been written. */
  readonly pack: PackFacts;
  readonly packets: readonly Buffer[];
  readonly bytes: number;
}

/**
 * Maximum size in bytes of a pack that is cached on its first request. A larger pack is cached only on its second
 * request: most large packs are never requested again, and memory that stays occupied costs more than memory that is
 * soon reused.
 */
const KEPT_AT_ONCE = 1024 * 1024;
/** Maximum number of keys of large packs in `sent`, per repository. */
const MAX_SENT = 1000;

/** Cached packs of one repository, and the keys of packs that may be cached later. */
interface RepositoryPacks {
  readonly finished: CacheRegion<string, Finished>;
  /** Keys of packs that are being sent and collected for the cache. */
  readonly growing: Set<string>;
  /** Keys of packs that were too large to be cached on their first request. */
  readonly sent: Set<string>;
}

/**
 * Cache of the packs of all repositories, stored as the packets that were sent. The shared LRU cache evicts entries.
 * Entries never become outdated: the key determines all bytes of the pack, and objects never change.
 */
export class PackCache {
  readonly #packs = new WeakMap<GitRepository, RepositoryPacks>();
  /** Number of bytes collected so far of all packs that are being sent and will be cached. */
  growingBytes = 0;
  readonly #most: number;

  /** `max` is the maximum number of bytes of all packs that are being collected at one time. */
  constructor(
    private readonly cache: MemoryCache,
    max = cache.capacity,
  ) {
    this.#most = Math.min(max, cache.capacity);
  }

  get(repository: GitRepository, key: string): readonly Buffer[] | undefined {
    return this.#packsOf(repository).finished.get(key)?.packets;
  }

  /** Returns the facts about a cached pack; undefined if it is not cached. */
  factsOf(repository: GitRepository, key: string): PackFacts | undefined {
    return this.#packsOf(repository).finished.get(key)?.pack;
  }

  /**
   * Yields `packets` unchanged. Caches them if they are not too large and all of them were sent. If several clients
   * receive one pack at the same time, it is collected only once. One limit applies to all packs being collected, so
   * that slow clients cannot fill the memory.
   */
  async *keeping(
    repository: GitRepository,
    key: string,
    packets: AsyncIterable<Buffer>,
    pack: PackFacts = { objects: 0, bytes: 0 },
  ): AsyncIterable<Buffer> {
    const { finished, growing, sent } = this.#packsOf(repository);
    if (growing.has(key)) {
      yield* packets;
      return;
    }
    growing.add(key);
    const isAgain = sent.has(key);
    let kept: Buffer[] | undefined = [];
    let bytes = 0;
    try {
      for await (const packet of packets) {
        const isLarge = !isAgain && bytes + packet.length > KEPT_AT_ONCE;
        if (kept && (isLarge || this.growingBytes + packet.length > this.#most)) {
          if (isLarge) {
            if (sent.size === MAX_SENT) sent.delete(sent.values().next().value!);
            sent.add(key);
          }
          kept = undefined;
          this.growingBytes -= bytes;
          bytes = 0;
        }
        if (kept) {
          kept.push(packet);
          bytes += packet.length;
          this.growingBytes += packet.length;
        }
        yield packet;
      }
      if (kept) {
        this.growingBytes -= bytes;
        finished.set(key, { packets: kept, bytes, pack });
        bytes = 0;
      }
    } finally {
      growing.delete(key);
      this.growingBytes -= bytes;
    }
  }

  /** Removes a deleted repository's packs from the cache. Packs that are being sent are completed, but not cached. */
  forget(repository: GitRepository): void {
    this.#packsOf(repository).finished.close();
  }

  #packsOf(repository: GitRepository): RepositoryPacks {
    let packs = this.#packs.get(repository);
    if (packs === undefined) {
      const finished = this.cache.region<string, Finished>(({ bytes }) => bytes, this.#most);
      packs = { finished, growing: new Set(), sent: new Set() };
      this.#packs.set(repository, packs);
    }
    return packs;
  }
}
