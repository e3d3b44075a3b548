import type { GivenFault } from '../faults/fault.js';
import type { JournalEntry } from '../journal/entry.js';
import type { Expectations } from '../journal/expectations.js';
import { type RequestQuery, selectorOf } from '../journal/query.js';
import type { Verification } from '../journal/verify.js';
import { verifyWorld } from '../scenarios/verify-world.js';
import { runSync } from '../schedule/steps.js';
import { type OrganizationAddress, runningAt } from '../server/address.js';
import type { Listener } from '../server/listeners.js';
import type { NamespaceOptions } from '../server/namespaces.js';
import type { Server } from '../server/server.js';
import type { CurrentWorld } from '../world/current-world.js';
import { clockOf, type EmulatorClock } from './clock.js';
import { type FaultHandle, setFault } from './faults.js';
import { type EmulatorRepository, type RepositoryScope, repositoryOf } from './repository.js';
import { type EmulatorQuotas, type EmulatorState, quotasOf, stateOf } from './state.js';
import { signToken, type TokenOptions } from './token.js';

/** One request that was answered: a copy, which later requests do not change. */
export type AnsweredRequest = JournalEntry;

/** Requests that were answered, oldest first. */
export interface AnsweredRequests extends ReadonlyArray<AnsweredRequest> {
  /** Number of earlier requests that the journal no longer has. It is not enumerable, so that lists compare as arrays. */
  readonly dropped: number;
}

/** A running emulator. */
export interface Emulator extends EmulatedService {
  /** The file with the admin token, where one was made: off loopback, unless `adminToken` was given. */
  readonly adminTokenFile?: string;
}

/** An isolated world of an emulator. */
export interface Namespace extends EmulatedService {
  /** `<id>.ns.localhost` at the emulator's first port reaches it as well. */
  readonly id: string;
}

/** One world of the service. The addresses beside `orgs` are the first organization's. */
export interface EmulatedService extends OrganizationAddress, AsyncDisposable {
  readonly orgs: readonly OrganizationAddress[];
  /** Id of the key that `keyFile` belongs to; empty where the first organization has no key. */
  readonly keyId: string;
  /**
   * Absolute path of the private key that signs for the first organization (PKCS#8 PEM): a test key, or without those
   * the file of the option `key`.
   */
  readonly keyFile: string;
  /** What clients have to trust for HTTPS (PEM), with the option `tls`. */
  readonly ca?: string;
  /** Where the routes of the emulator itself are: `<baseUrl>/_emulator`. */
  readonly adminUrl: string;
  /**
   * Signs a token at the time of the emulator. Its requests meet the `faults` it names, so that a client which can set
   * nothing else, such as git, meets them too. Rejects with an `Error` that says what cannot be.
   *
   * ```js
   * const token = await emulator.token({ repo: 'team/app', faults: ['cut*1@git.pack;fraction=0.5'] });
   * const remote = `${emulator.gitUrl.replace('://', `://t:${token}@`)}/team/app.git`;
   * ```
   */
  token(options?: TokenOptions): Promise<string>;
  /**
   * The requests that were answered, oldest first; as many of the last as the limit `maxJournal` says. `dropped` is the
   * number of those before them. Requests to the emulator's own routes are left out.
   *
   * ```js
   * const [refused] = emulator.requests({ operation: 'commitPack', status: 409 });
   * console.log(refused.id, refused.code, refused.why);
   * ```
   */
  requests(query?: RequestQuery): AnsweredRequests;
  /**
   * Verifies the requests: how often, in which order, never, how far apart; and, with `client`, by the rules for clients.
   * The `expect` of each fault and the expectations of each running scenario are always included. Throws an `Error` that
   * names the invalid member.
   *
   * ```js
   * const { met, unmet } = emulator.verify({
   *   requests: [{ match: { operation: 'commitPack' }, count: 2, minGap: 'retry-after' }],
   *   client: true,
   * });
   * ```
   */
  verify(expectations?: Expectations): Verification;
  /** The time of the emulator: `emulator.clock.advance(1_000)`. */
  readonly clock: EmulatorClock;
  /** How many requests can be made: `emulator.quotas.change({ gateway: { capacity: 20, refill: '10/s' } })`. */
  readonly quotas: EmulatorQuotas;
  /** Switches of organizations, and the states of repositories: `emulator.state.read().organizations.demo.hosting`. */
  readonly state: EmulatorState;
  /**
   * A repository by its name, there or not: to fill it without a request, and as what another one is filled from.
   *
   * ```js
   * await emulator.repository('team/app').seed({ 'README.md': 'hello', 'src/index.js': 'export {};' });
   * await emulator.repository('team/fork').seed(emulator.repository('team/app'));
   * ```
   */
  repository(name: string, scope?: RepositoryScope): EmulatorRepository;
  /**
   * Makes requests meet a fault, until it is removed: in the words of `X-Emulator-Fault`, or as an object that also says
   * which requests are meant. Throws an `Error` that says why when it could never meet any.
   *
   * ```js
   * await using outage = emulator.fault({ match: { op: 'git*' }, when: { times: 2 }, do: { error: { code: 'service_unavailable' } } });
   * // … a test …
   * assert.equal(outage.fired, 2);
   * ```
   */
  fault(spec: string | GivenFault): FaultHandle;
  /**
   * Lets go of the requests that a latch holds, and ends the states that last until it is released. Returns how many
   * there were: a release is not remembered for what comes later.
   *
   * ```js
   * emulator.fault('hold*1;latch=door');
   * // … when the request is there …
   * assert.equal(emulator.release('door'), 1);
   * ```
   */
  release(latch: string): number;
  /**
   * Keeps everything as it is now: repositories with their refs, objects, notes, deployments, credentials, LFS objects
   * and locks, webhooks and their deliveries, the requests, the clock, and the counters of ids and faults. Resolves to
   * the id to restore it by. What it holds counts as held until the emulator is closed. Rejects when there are 1,000
   * snapshots already.
   *
   * ```js
   * const seeded = await emulator.snapshot();
   * // … a test …
   * await emulator.restore(seeded);
   * ```
   */
  snapshot(): Promise<string>;
  /**
   * Puts everything back to a snapshot, which can be restored any number of times. The same requests then get the same
   * bytes as they got after it was taken, unless the time is that of the machine. Requests that are under way end in the
   * state they began in: reads are answered, and writes get 503 `service_unavailable`. Syncs that were under way are
   * canceled. Rejects with an `Error` when there is no such snapshot.
   *
   * ```js
   * afterEach(() => emulator.restore(seeded));
   * ```
   */
  restore(id: string): Promise<void>;
  /**
   * Puts everything back to what it was before the first request; snapshots stay. Otherwise as `restore`.
   *
   * ```js
   * afterEach(() => emulator.reset());
   * ```
   */
  reset(): Promise<void>;
  /**
   * Makes an isolated world in this process, on ports of its own: with its own clock, ids, requests, quotas and limits, so
   * that tests which run side by side never meet. Made from a snapshot of this world it starts as that was and shares its objects, so
   * it costs next to nothing however much is in it. What is closed gives its memory back; what is not is closed with the
   * emulator. Rejects with an `Error` that names an option that cannot be.
   *
   * ```js
   * const seeded = await emulator.snapshot();
   * await using world = await emulator.namespace({ snapshot: seeded });
   * ```
   */
  namespace(options?: NamespaceOptions): Promise<Namespace>;
  /**
   * Stops listening and lets running requests finish for `graceMs` milliseconds of real time (default: the limit
   * `drainTimeout`). Resolves when nothing of the emulator is left, also when it was closed before.
   *
   * ```js
   * await emulator.close({ graceMs: 0 });
   * ```
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** The surface of a server: addresses, and what a test may ask and change. @internal */
export function createEmulator(server: Server): Emulator {
  const { namespaces, adminTokenFile, operations, signingKey, trust } = server;
  const makeFrom =
    (world: CurrentWorld): EmulatedService['namespace'] =>
    async (options) => {
      const { id, listeners, current, close } = await namespaces.create(options, world);
      const namespace = { listeners: listeners.all, current, operations, signingKey, trust, close };
      return { id, ...surfaceOf(namespace, makeFrom(current)) };
    };
  return { ...surfaceOf(server, makeFrom(server.current)), ...(adminTokenFile !== undefined && { adminTokenFile }) };
}

/** What an emulator and a namespace have in common. */
function surfaceOf(
  {
    listeners,
    current,
    operations,
    signingKey,
    trust,
    close,
  }: Pick<Server, 'current' | 'operations' | 'signingKey' | 'trust' | 'close'> & {
    readonly listeners: readonly Listener[];
  },
  namespace: EmulatedService['namespace'],
): EmulatedService {
  const running = runningAt(listeners, signingKey, trust !== undefined);
  const { orgs } = running;
  return {
    ...orgs[0]!,
    ...running,
    ...(trust !== undefined && { ca: trust }),
    token: (options = {}) => signToken({ current, operations, signingKey }, options),
    requests: (query) => answeredRequests(current, query),
    verify: (expectations = {}) => runSync(verifyWorld(current.world, expectations)),
    clock: clockOf(current),
    state: stateOf(current, orgs[0]!.org),
    quotas: quotasOf(current),
    repository: (name, { org = orgs[0]!.org } = {}) => repositoryOf(current, org, name),
    fault: (spec) => setFault(current, operations, spec),
    release: (latch) => current.world.releaseLatch(latch),
    namespace,
    snapshot: async () => current.snapshot(),
    restore: (id) => current.restore(id),
    reset: () => current.reset(),
    close: (options) => close(options),
    [Symbol.asyncDispose]: () => close(),
  };
}

function answeredRequests({ world }: CurrentWorld, query: RequestQuery | undefined): AnsweredRequests {
  const { journal } = world.state;
  const entries = [...journal.entries(selectorOf(query))];
  return Object.defineProperty(entries, 'dropped', { value: journal.dropped }) as typeof entries & AnsweredRequests;
}
