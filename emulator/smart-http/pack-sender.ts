import { createHash } from 'node:crypto';
import { type Oid, TAG } from '../git/object/object.js';
import { tagTarget } from '../git/object/tag.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import type { Refs } from '../git/refs/refs.js';
import type { GitRepository } from '../git/repository/repository.js';
import type { SendPlan } from '../git/revwalk/send-plan.js';
import { AnswerCut } from '../http/answer-cut.js';
import type { CacheRegion, MemoryCache } from '../memory/memory-cache.js';
import { lastUpTo } from '../memory/sorted.js';
import { Meter } from '../schedule/meter.js';
import { type PreparedPack, sendBrokenPack } from './broken-pack.js';
import type { PackRequest } from './fetch-request.js';
import type { GitFacts, PackFacts } from './git-facts.js';
import type { WireFaults } from './git-faults.js';
import { bandPackets, FATAL, FLUSH, KEEP_ALIVE, packBand, progress } from './pkt-line.js';
import type { RefListings } from './ref-listings.js';
import type { RepositoryView } from './view.js';

/** After this much silence the client hears that the server is still at work, as from Git. */
const KEEP_ALIVE_MILLISECONDS = 5_000;

const ABORTED = 'aborting due to possible repository corruption on the remote side.';

interface Sending {
  readonly signal: AbortSignal;
  /** Is told what the pack comes to. */
  readonly facts: GitFacts;
  readonly wire?: WireFaults | undefined;
}

/** Makes and sends the packs of fetches, and keeps finished ones. */
export class PackSender {
  /** Numbers for states of refs, which have no other name. */
  readonly #refsNumbers = new WeakMap<Refs, number>();
  #nextRefsNumber = 0;

  constructor(
    private readonly cache: PackCache,
    private readonly listings: RefListings,
  ) {}

  /** The packfile section: progress, the pack, and the flush that ends the answer. */
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
      // Without side-band there is no word for it: the answer has to break off.
      if (sideband === 'none' || signal.aborted || error instanceof AnswerCut) throw error;
      yield* bandPackets(Buffer.from(ABORTED), FATAL, sideband);
      return;
    }
    if (sideband !== 'none') yield FLUSH;
  }

  async *#make(request: PackRequest, signal: AbortSignal, facts: PackFacts): AsyncIterable<Buffer> {
    const { numbers, options } = yield* this.#prepare(request, signal, facts);
    yield* packBand(counted(writePack(request.view.repository.objects, numbers, options), facts), request.sideband);
  }

  /** Finds out what is to be sent, while the client hears that this goes on. */
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

  /** Everything that decides the bytes of the pack. */
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
      // The client has the commits whose parents it gets now.
      haves: [...haves, ...boundary.unshallow],
      boundary: boundary.boundary,
      clientShallow: fetch.depth.clientShallow,
      filter: fetch.filter,
    },
    new Meter({ schedule: view.repository.objects.schedule, signal }),
  );
}

/** A client that leaves objects out may lack the bases of a thin pack, though it has their commits. */
function isThin({ fetch, haves }: PackRequest): boolean {
  return fetch.flags.has('thin-pack') && haves.size > 0 && !fetch.filter;
}

/**
 * Awaits `work`; each time `every` milliseconds pass without an end, yields `sign`. Returns what the
 * work returns. A silent connection looks dead to proxies and to people.
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
 * gitprotocol-capabilities, include-tag: "The server MUST send annotated tags if we are sending the
 * objects they point to." Returns `numbers`, which ascend, with those tags put among them.
 */
export async function followingTags(
  view: RepositoryView,
  numbers: Int32Array,
  listings: RefListings,
  meter: Meter,
): Promise<Int32Array> {
  const added = new Set<number>();
  for (const { oid, target } of await listings.annotatedTags(view, meter)) {
    if (meter.isOver) await meter.pass();
    if (!isAmong(numbers, target)) continue;
    for (const number of tagChain(view.repository, oid)) {
      // What it leads to came with it.
      if (added.has(number)) break;
      if (!isAmong(numbers, number)) added.add(number);
      if (meter.isOver) await meter.pass();
    }
  }
  if (added.size === 0) return numbers;
  const all = new Int32Array(numbers.length + added.size);
  all.set(numbers);
  all.set([...added], numbers.length);
  return all.sort();
}

/** Whether a list that ascends has the number. */
function isAmong(numbers: Int32Array, number: number): boolean {
  return numbers[lastUpTo(numbers, number)] === number;
}

/** The tag, and the tags it leads through. */
function* tagChain({ objects }: GitRepository, oid: Oid): IterableIterator<number> {
  for (let number = objects.find(oid); objects.typeOf(number) === TAG; ) {
    yield number;
    number = objects.find(tagTarget(objects.read(number)));
  }
}

interface Finished {
  /** Complete by now. */
  readonly pack: PackFacts;
  readonly packets: readonly Buffer[];
  readonly bytes: number;
}

/**
 * A pack above this is kept only when it is asked for again: most large ones never are, and memory that is held for
 * a while costs more than memory that is used over and over.
 */
const KEPT_AT_ONCE = 1024 * 1024;
/** Most large packs of one repository that are known to have been sent once. */
const MOST_SENT = 1000;

/** Packs of one repository, by key. */
interface RepositoryPacks {
  readonly finished: CacheRegion<string, Finished>;
  /** Packs being kept while they are sent. */
  readonly growing: Set<string>;
  /** Packs that were too large to be kept when they were first asked for. */
  readonly sent: Set<string>;
}

/**
 * Finished packs of all repositories, in the packets they were sent in, as long as the cache has room. A pack is
 * decided by what its key names, because objects never change; so nothing here ever goes stale.
 */
export class PackCache {
  readonly #packs = new WeakMap<GitRepository, RepositoryPacks>();
  /** Bytes so far of packs being kept while they are sent. */
  growingBytes = 0;
  readonly #most: number;

  /** `most`: bytes of packs under way. */
  constructor(
    private readonly cache: MemoryCache,
    most = cache.capacity,
  ) {
    this.#most = Math.min(most, cache.capacity);
  }

  get(repository: GitRepository, key: string): readonly Buffer[] | undefined {
    return this.#packsOf(repository).finished.get(key)?.packets;
  }

  /** What a pack that is kept holds. */
  factsOf(repository: GitRepository, key: string): PackFacts | undefined {
    return this.#packsOf(repository).finished.get(key)?.pack;
  }

  /**
   * Passes `packets` on and keeps them, unless they are too many or the client leaves before the end. One client at a
   * time makes a pack to be kept, and all that are under way count: slow clients do not add up.
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
            if (sent.size === MOST_SENT) sent.delete(sent.values().next().value!);
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

  /** Lets go of the packs of a repository that is no more. Those under way end, and are not kept. */
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
