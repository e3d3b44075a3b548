import { createHash } from 'node:crypto';
import type { Oid } from '../git/object/object.js';
import { writePack } from '../git/pack-objects/pack-writer.js';
import type { Refs } from '../git/refs/refs.js';
import type { ShallowBoundary } from '../git/revwalk/depth.js';
import type { SendPlan } from '../git/revwalk/send-plan.js';
import { Meter } from '../git/schedule/meter.js';
import type { FetchRequest } from './fetch-request.js';
import { followingTags } from './following-tags.js';
import { keepAlive } from './keep-alive.js';
import type { PackCache } from './pack-cache.js';
import { FLUSH } from './pkt-line.js';
import type { RefListings } from './ref-listings.js';
import { bandPackets, FATAL, KEEP_ALIVE, packBand, progress, type Sideband } from './sideband.js';
import type { RepositoryView } from './view.js';

/** After this much silence the client hears that the server is still at work, as from Git. */
const KEEP_ALIVE_MILLISECONDS = 5_000;

const ABORTED = 'aborting due to possible repository corruption on the remote side.';

/** A pack to be sent: what was wanted, what is there already, where history ends. */
export interface Shipment {
  readonly view: RepositoryView;
  readonly request: FetchRequest;
  readonly haves: ReadonlySet<Oid>;
  readonly cut: ShallowBoundary;
  readonly sideband: Sideband;
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
  async *send(shipment: Shipment, signal?: AbortSignal): AsyncIterable<Buffer> {
    const { view, sideband } = shipment;
    const key = this.#keyOf(shipment);
    try {
      const kept = this.cache.get(view.repository, key);
      if (kept) yield* kept;
      else yield* this.cache.keeping(view.repository, key, this.#make(shipment, signal));
    } catch (error) {
      // Without side-band there is no word for it: the answer has to break off.
      if (sideband === 'none' || signal?.aborted) throw error;
      yield* bandPackets(Buffer.from(ABORTED), FATAL, sideband);
      return;
    }
    if (sideband !== 'none') yield FLUSH;
  }

  async *#make(shipment: Shipment, signal?: AbortSignal): AsyncIterable<Buffer> {
    const { view, request, sideband } = shipment;
    const { objects } = view.repository;
    const work = planOf(shipment, signal);
    const plan = sideband === 'none' ? await work : yield* keepAlive(work, KEEP_ALIVE_MILLISECONDS, KEEP_ALIVE);
    const meter = new Meter({ schedule: objects.schedule, signal });
    const numbers = request.includeTag ? await followingTags(view, plan.objects, this.listings, meter) : plan.objects;
    if (!request.noProgress) yield* progress(`Enumerating objects: ${numbers.length}, done.\n`, sideband);
    const pack = writePack(objects, numbers, {
      ofsDelta: request.ofsDelta,
      previous: () => plan.previousVersions(),
      ...(signal && { signal }),
      ...(isThin(shipment) && { thin: (number: number) => plan.isHeld(number) }),
    });
    yield* packBand(pack, sideband);
  }

  /** Everything that decides the bytes of the pack. */
  #keyOf({ view, request, haves, cut, sideband }: Shipment): string {
    const { thinPack, ofsDelta, noProgress, includeTag, filter, wants, depth } = request;
    const hash = createHash('sha1');
    hash.update(JSON.stringify([thinPack, ofsDelta, noProgress, sideband, filter ?? null]));
    if (includeTag) hash.update(`${view.prefix} ${this.#numberOf(view.repository.refs)}`);
    for (const list of [wants, haves, cut.boundary, depth.clientShallow]) hash.update(`\n${[...list].sort().join()}`);
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

function planOf({ view, request, haves, cut }: Shipment, signal?: AbortSignal): Promise<SendPlan> {
  return view.repository.history.plan(
    {
      wants: request.wants,
      // What is no longer cut off at the client is there itself.
      haves: [...haves, ...cut.unshallow],
      boundary: cut.boundary,
      clientShallow: request.depth.clientShallow,
      filter: request.filter,
    },
    new Meter({ schedule: view.repository.objects.schedule, signal }),
  );
}

/** A client that leaves objects out may lack the bases of a thin pack, though it has their commits. */
function isThin({ request, haves }: Shipment): boolean {
  return request.thinPack && haves.size > 0 && !request.filter;
}
