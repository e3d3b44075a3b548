import sortedBTree from 'sorted-btree';
import type { KeyRing } from '../auth/keys.js';
import { DEFAULT_LIMITS, type Limits } from '../config/limits.js';
import { DEFAULT_VARIANTS, type Variants } from '../config/variants.js';
import { packageVersion } from '../config/version.js';
import { type Clock, realClock } from '../environment/clock.js';
import { Ids } from '../environment/ids.js';
import { type Log, silentLog } from '../environment/log.js';
import { MemoryBudget } from '../git/memory/memory-budget.js';
import { MemoryCache } from '../git/memory/memory-cache.js';
import { bytesOf } from '../git/object/bytes.js';
import { ObjectStore } from '../git/odb/object-store.js';
import { Scratch } from '../git/odb/scratch.js';
import type { RefChange } from '../git/refs/ref-change.js';
import { Refs } from '../git/refs/refs.js';
import { Schedule } from '../git/schedule/schedule.js';
import { Outbound } from '../http/outbound.js';
import type { LfsObjects } from '../repositories/lfs-objects.js';
import { Repository, type RepositoryRecord } from '../repositories/repository.js';
import { GitService } from '../smart-http/git-service.js';
import { Syncs } from '../upstream/syncs.js';
import { pushEvent, syncEvent, type WebhookEvent } from '../webhooks/events.js';
import { Outbox } from '../webhooks/outbox.js';
import type { Webhook } from '../webhooks/webhook.js';
import { Journal } from './journal.js';

const BTree = sortedBTree.default;
type SortedMap<K, V> = sortedBTree.default<K, V>;

/** An organization as it stands: an immutable value. */
export interface Organization {
  readonly name: string;
  readonly keys: KeyRing;
  /** Whether tokens can be verified now; while not, every request is 403 `authentication_unavailable`. */
  readonly authenticationAvailable: boolean;
  readonly hostingEnabled: boolean;
  /** Applications on the external forge. Anything but one is 412 `forge_app_not_configured`. */
  readonly forgeApps: number;
}

/** The whole state, one immutable value: a snapshot is a reference to it. */
export interface WorldState {
  readonly organizations: ReadonlyMap<string, Organization>;
  /** By id. */
  readonly repositories: SortedMap<string, RepositoryRecord>;
  /** Id by `organization NUL name`. */
  readonly names: SortedMap<string, string>;
  /** Id by organization and sequence, in order of creation. */
  readonly order: SortedMap<string, string>;
  readonly created: number;
  /** By id, in order of registration. */
  readonly webhooks: ReadonlyMap<string, Webhook>;
}

/** Where the world may reach out to. Loopback is always allowed, anything else has to be named. */
export interface OutsideOptions {
  /** Origins that stand in for external forges, by provider name. */
  readonly upstreamHost: Readonly<Record<string, string>>;
  readonly allowUpstream: readonly string[];
  readonly allowWebhook: readonly string[];
  /** What the names of webhook headers start with. */
  readonly webhookPrefix: string;
}

const NO_OUTSIDE: OutsideOptions = { upstreamHost: {}, allowUpstream: [], allowWebhook: [], webhookPrefix: 'X-Pierre' };

export interface WorldOptions {
  readonly organizations: readonly Organization[];
  readonly seed?: string;
  readonly clock?: Clock;
  readonly variants?: Variants;
  readonly limits?: Limits;
  /** Whether pushed objects are checked as `git fsck --strict` does. */
  readonly fsck?: 'strict' | 'off';
  /** What the codes of errors about the external forge start with. */
  readonly forgePrefix?: string;
  readonly log?: Log;
  readonly schedule?: Schedule;
  readonly outside?: OutsideOptions;
}

/** The share of `cacheBytes` for packs that are being kept while they are sent. */
const UNDER_WAY = 1 / 4;

/**
 * Everything one emulated service knows. No state lives outside a `World`, so many of them fit into one
 * process; time, ids and secrets come from here, so that the same seed, clock and requests give the
 * same bytes.
 */
export class World {
  readonly seed: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly variants: Variants;
  readonly limits: Limits;
  readonly fsck: 'strict' | 'off';
  readonly forgePrefix: string;
  readonly log: Log;
  readonly journal: Journal;
  /** Shares the event loop between requests; one for all object stores, and for every world of the process. */
  readonly schedule: Schedule;
  /** Events on their way to webhooks. */
  readonly outbox: Outbox;
  /** Runs that bring repositories up to date with their upstreams. */
  readonly syncs: Syncs;
  /** Where webhooks may be. */
  readonly webhookOutbound: Outbound;
  readonly #upstreamOutbound: Outbound;
  #state: WorldState;
  #requests = 0;
  /** Handles by repository id: what they hold beside the record is derived or append-only. */
  readonly #handles = new Map<string, Repository>();
  /** Shared by all that is stored: memory is one, and so are the tools that work on it. */
  readonly memory: MemoryBudget;
  readonly #caches: MemoryCache;
  readonly #scratch = new Scratch();
  #gitService: GitService | undefined;

  constructor(options: WorldOptions) {
    this.seed = options.seed ?? '1';
    this.clock = options.clock ?? realClock;
    this.ids = new Ids(this.seed);
    this.variants = options.variants ?? DEFAULT_VARIANTS;
    this.limits = options.limits ?? DEFAULT_LIMITS;
    this.fsck = options.fsck ?? 'strict';
    this.forgePrefix = options.forgePrefix ?? 'forge';
    this.log = options.log ?? silentLog;
    this.journal = new Journal(this.limits.maxJournal);
    this.schedule = options.schedule ?? new Schedule();
    const { upstreamHost, allowUpstream, allowWebhook, webhookPrefix } = options.outside ?? NO_OUTSIDE;
    const { clock, ids, log } = this;
    this.webhookOutbound = new Outbound(allowWebhook);
    this.#upstreamOutbound = new Outbound(allowUpstream);
    this.outbox = new Outbox({ clock, ids, log, outbound: this.webhookOutbound, headerPrefix: webhookPrefix });
    this.syncs = new Syncs({
      clock,
      log,
      outbound: this.#upstreamOutbound,
      origins: upstreamHost,
      timeout: this.limits.idleTimeout,
      fsck: this.fsck,
      mostPackBytes: this.limits.maxPushBytes,
      report: (report) => this.announce(syncEvent(report)),
    });
    this.memory = new MemoryBudget(this.limits.maxHeldBytes);
    this.#caches = new MemoryCache(this.limits.cacheBytes * (1 - UNDER_WAY));
    this.#state = {
      organizations: new Map(options.organizations.map((organization) => [organization.name, organization])),
      repositories: new BTree(),
      names: new BTree(),
      order: new BTree(),
      created: 0,
      webhooks: new Map(),
    };
  }

  /** Requests are numbered in order of arrival; the journal, the log and `X-Request-Id` use the same id. */
  nextRequestId(): string {
    this.#requests += 1;
    return `req-${String(this.#requests).padStart(8, '0')}`;
  }

  get state(): WorldState {
    return this.#state;
  }

  organization(name: string): Organization | undefined {
    return this.#state.organizations.get(name);
  }

  updateOrganization(name: string, changes: Partial<Omit<Organization, 'name'>>): void {
    const organization = this.#state.organizations.get(name);
    if (!organization) throw new Error(`There is no organization ${name}.`);
    const organizations = new Map(this.#state.organizations).set(name, { ...organization, ...changes });
    this.#state = { ...this.#state, organizations };
  }

  /** The repository of that name, deleted or not; undefined when the name was never used. */
  repository(organization: string, name: string): Repository | undefined {
    const id = this.#state.names.get(keyOf(organization, name));
    return id === undefined ? undefined : this.#handles.get(id);
  }

  repositoryById(id: string): Repository | undefined {
    return this.#handles.get(id);
  }

  /** Creates a repository; a deleted one of the same name gives way. Throws if the name is in use. */
  createRepository(
    organization: string,
    name: string,
    options: { defaultBranch: string } & Partial<Pick<RepositoryRecord, 'baseRepo' | 'hosting'>>,
  ): Repository {
    const state = this.#state;
    const previous = this.repository(organization, name);
    if (previous && previous.record.state !== 'deleted') throw new Error(`${name} is in use.`);
    const { defaultBranch, ...rest } = options;
    const sequence = state.created + 1;
    const record: RepositoryRecord = {
      id: this.ids.uuid('repository'),
      organization,
      name,
      sequence,
      createdAt: this.clock.now(),
      state: 'active',
      refs: Refs.empty(bytesOf(defaultBranch)),
      watermark: 0,
      ...rest,
    };
    this.#state = {
      ...state,
      created: sequence,
      repositories: state.repositories.with(record.id, record, true),
      names: state.names.with(keyOf(organization, name), record.id, true),
      order: state.order.with(orderKey(organization, sequence), record.id, true),
    };
    return this.#adopt(record);
  }

  /**
   * Marks the repository as deleted and lets go of its objects: their memory counts no more, and is free as
   * soon as the last running reader has ended.
   */
  deleteRepository(repository: Repository): void {
    const { record } = repository;
    const { budget } = repository.git.objects.stored;
    const lfsBytes = record.lfsObjects?.bytesHeldAlone(this.#lfsObjectsBeside(record)) ?? 0;
    this.#gitService?.forget(repository.git);
    this.#replace({
      ...record,
      state: 'deleted',
      refs: Refs.empty(bytesOf('main')),
      watermark: 0,
      baseRepo: undefined,
      credential: undefined,
      hosting: undefined,
      deployments: undefined,
      lfsObjects: undefined,
      lfsLocks: undefined,
    });
    this.#state = { ...this.#state, order: this.#state.order.without(orderKey(record.organization, record.sequence)) };
    this.#adopt(this.#state.repositories.get(record.id)!);
    budget.give(budget.used);
    this.memory.give(lfsBytes);
    repository.git.objects.caches.close();
  }

  /** What the other repositories have of LFS objects. */
  *#lfsObjectsBeside(record: RepositoryRecord): IterableIterator<LfsObjects> {
    for (const { id, lfsObjects } of this.#state.repositories.values()) {
      if (lfsObjects && id !== record.id) yield lfsObjects;
    }
  }

  /** Repositories of an organization in order of creation, after position `after`; deleted ones are left out. */
  *repositories(organization: string, after = 0): IterableIterator<Repository> {
    const prefix = `${organization}\0`;
    const { order } = this.#state;
    for (const [key, id] of order.entries(orderKey(organization, after + 1))) {
      if (!key.startsWith(prefix)) return;
      const repository = this.#handles.get(id);
      if (repository) yield repository;
    }
  }

  addWebhook(webhook: Webhook): void {
    this.#state = { ...this.#state, webhooks: new Map(this.#state.webhooks).set(webhook.id, webhook) };
  }

  /** Removes a registration, and with it what is pending for it. */
  removeWebhook(id: string): void {
    const webhooks = new Map(this.#state.webhooks);
    webhooks.delete(id);
    this.#state = { ...this.#state, webhooks };
    this.outbox.cancel(id);
  }

  /** Registrations of an organization, oldest first. */
  webhooks(organization: string): Webhook[] {
    return [...this.#state.webhooks.values()].filter((webhook) => webhook.organization === organization);
  }

  /** Notes an event for the webhooks of its organization. */
  announce(event: WebhookEvent): void {
    this.outbox.post(event, this.webhooks(event.organization));
  }

  /** Ends what runs in the background, without telling anybody. */
  async close(): Promise<void> {
    this.schedule.close();
    this.outbox.close();
    await this.syncs.close();
    await Promise.all([this.webhookOutbound.close(), this.#upstreamOutbound.close()]);
  }

  /** Bytes that all object stores and LFS objects hold together. */
  get heldBytes(): number {
    return this.memory.used;
  }

  /** Bytes that are kept only to be fast: at most `cacheBytes`. */
  get cachedBytes(): number {
    return this.#caches.heldBytes + (this.#gitService?.packs.growingBytes ?? 0);
  }

  /** Git's smart HTTP for all repositories: what it keeps between requests goes with the world. */
  get gitService(): GitService {
    this.#gitService ??= this.#createGitService();
    return this.#gitService;
  }

  #createGitService(): GitService {
    const session = this.ids.uuid('git-session');
    let conversations = 0;
    return new GitService({
      agent: `repohost-emulator/${packageVersion()}`,
      sessionId: () => `${session}.${++conversations}`,
      fsck: this.fsck,
      limits: { pushBytes: this.limits.maxPushBytes, packCacheBytes: this.limits.cacheBytes * UNDER_WAY },
      cache: this.#caches,
    });
  }

  #replace(record: RepositoryRecord): void {
    this.#state = { ...this.#state, repositories: this.#state.repositories.with(record.id, record, true) };
  }

  #adopt(record: RepositoryRecord): Repository {
    const objects = new ObjectStore({
      caches: this.#caches,
      limits: {
        packBytes: this.limits.maxPushBytes,
        objectBytes: this.limits.maxObjectBytes,
        structureBytes: this.limits.maxStructureBytes,
        inflatedBytes: this.limits.maxInflatedBytes,
        objects: this.limits.maxObjects,
      },
      budget: this.memory,
      scratch: this.#scratch,
      schedule: this.schedule,
    });
    const home = {
      record: (id: string) => this.#state.repositories.get(id)!,
      replace: (next: RepositoryRecord) => this.#replace(next),
      now: () => this.clock.now(),
      moved: (changed: RepositoryRecord, changes: readonly RefChange[]) => {
        if (this.#state.webhooks.size === 0) return;
        for (const change of changes) {
          const event = pushEvent(changed, change, this.clock.now());
          if (event) this.announce(event);
        }
      },
      failed: (changed: RepositoryRecord, error: unknown) => {
        const stack = error instanceof Error ? error.stack : String(error);
        this.log.write({ event: 'internal_error', operation: 'after-write', repository: changed.name, stack });
      },
    };
    const repository = new Repository(record.id, home, objects);
    this.#handles.set(record.id, repository);
    return repository;
  }
}

function keyOf(organization: string, name: string): string {
  return `${organization}\0${name}`;
}

function orderKey(organization: string, sequence: number): string {
  return `${organization}\0${String(sequence).padStart(12, '0')}`;
}
