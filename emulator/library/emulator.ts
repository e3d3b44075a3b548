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

/** Journal entry of a request. It is a copy, which later requests do not change. */
export type AnsweredRequest = JournalEntry;

/** Journal entries of requests, oldest first. */
export interface AnsweredRequests extends ReadonlyArray<AnsweredRequest> {
  /** Number of earlier requests that the journal dropped. Not enumerable, so that lists compare as arrays. */
  readonly dropped: number;
}

/** A running emulator. */
export interface Emulator extends EmulatedService {
  /**
   * File with the generated admin token. Absent if `adminToken` was given, or if the emulator listens only on loopback
   * addresses.
   */
  readonly adminTokenFile?: string;
}

/** Isolated world of an emulator. A world is the state of one service. */
export interface Namespace extends EmulatedService {
  /** Id. The namespace is also reached as `<id>.ns.localhost` at the first port of the emulator. */
  readonly id: string;
}

/** One emulated service. The addresses outside `orgs` are those of the first organization. */
export interface EmulatedService extends OrganizationAddress, AsyncDisposable {
  readonly orgs: readonly OrganizationAddress[];
  /** Id of the key in `keyFile`; empty if the first organization has no key. */
  readonly keyId: string;
  /**
   * Absolute path of the private key that signs for the first organization (PKCS#8 PEM): a test key, or the file of the
   * option `key` if test keys are disabled.
   */
  readonly keyFile: string;
  /** Certificate that clients must trust for HTTPS (PEM). Absent without the option `tls`. */
  readonly ca?: string;
  /** URL of the admin API: `<baseUrl>/_emulator`. */
  readonly adminUrl: string;
  /**
   * Signs a token at the time of the emulator. The `faults` apply to requests with the token, so that they also reach
   * clients that cannot set a header, such as git. Rejects with an `Error` that names the invalid option.
   *
   * ```js
   * const token = await emulator.token({ repo: 'team/app', faults: ['cut*1@git.pack;fraction=0.5'] });
   * const remote = `${emulator.gitUrl.replace('://', `://t:${token}@`)}/team/app.git`;
   * ```
   */
  token(options?: TokenOptions): Promise<string>;
  /**
   * Returns the requests in the journal, oldest first, without requests to the admin API. The limit `maxJournal` is the
   * maximum number of requests in the journal; `dropped` is the number of earlier requests.
   *
   * ```js
   * const [refused] = emulator.requests({ operation: 'commitPack', status: 409 });
   * console.log(refused.id, refused.code, refused.why);
   * ```
   */
  requests(query?: RequestQuery): AnsweredRequests;
  /**
   * Verifies the number, the order and the pauses of requests and, with `client`, the rules for clients. The `expect`
   * of each fault and the expectations of each running scenario are always included. Throws an `Error` that names the
   * invalid member.
   *
   * ```js
   * const { met, unmet } = emulator.verify({
   *   requests: [{ match: { operation: 'commitPack' }, count: 2, minGap: 'retry-after' }],
   *   client: true,
   * });
   * ```
   */
  verify(expectations?: Expectations): Verification;
  /** Clock of the emulator: `emulator.clock.advance(1_000)`. */
  readonly clock: EmulatorClock;
  /** Request quotas: `emulator.quotas.change({ gateway: { capacity: 20, refill: '10/s' } })`. */
  readonly quotas: EmulatorQuotas;
  /** State of organizations and repositories: `emulator.state.read().organizations.demo.hosting`. */
  readonly state: EmulatorState;
  /**
   * Returns a repository by name, whether or not it exists. It can be filled without a request, and other repositories
   * can be filled from it.
   *
   * ```js
   * await emulator.repository('team/app').seed({ 'README.md': 'hello', 'src/index.js': 'export {};' });
   * await emulator.repository('team/fork').seed(emulator.repository('team/app'));
   * ```
   */
  repository(name: string, scope?: RepositoryScope): EmulatorRepository;
  /**
   * Injects a fault into requests until it is removed. The fault is a text as in `X-Emulator-Fault`, or an object that
   * can also select requests. Throws an `Error` with the reason if the fault could never fire.
   *
   * ```js
   * await using outage = emulator.fault({
   *   match: { op: 'git*' },
   *   when: { times: 2 },
   *   do: { error: { code: 'service_unavailable' } },
   * });
   * // … a test …
   * assert.equal(outage.fired, 2);
   * ```
   */
  fault(spec: string | GivenFault): FaultHandle;
  /**
   * Releases a latch: continues the requests that it holds, and ends the states that last until its release. Returns
   * the number of both. The release does not affect later requests and states.
   *
   * ```js
   * emulator.fault('hold*1;latch=door');
   * // … when the request is there …
   * assert.equal(emulator.release('door'), 1);
   * ```
   */
  release(latch: string): number;
  /**
   * Takes a snapshot of the whole world: repositories with their refs, objects, notes, deployments, credentials, LFS
   * objects and locks, webhooks and their deliveries, the journal, the clock, and the counters of ids and faults.
   * Resolves to its id, for `restore`. Data of a snapshot counts as held memory until the emulator is closed. Rejects
   * if there are already 1,000 snapshots.
   *
   * ```js
   * const seeded = await emulator.snapshot();
   * // … a test …
   * await emulator.restore(seeded);
   * ```
   */
  snapshot(): Promise<string>;
  /**
   * Restores a snapshot, any number of times. Repeated requests then get identical responses, unless the clock has the
   * mode `real`. Requests in progress finish in the state in which they began: reads succeed, and writes get 503
   * `service_unavailable`. Running syncs are canceled. Rejects with an `Error` if the snapshot does not exist.
   *
   * ```js
   * afterEach(() => emulator.restore(seeded));
   * ```
   */
  restore(id: string): Promise<void>;
  /**
   * Restores the state before the first request, like `restore` does for a snapshot. Snapshots remain.
   *
   * ```js
   * afterEach(() => emulator.reset());
   * ```
   */
  reset(): Promise<void>;
  /**
   * Creates an isolated world in this process, with its own ports, clock, ids, requests, quotas and limits, so that
   * concurrent tests do not affect each other. A namespace from a snapshot of this world starts in the state of the
   * snapshot and shares its objects, so the cost does not depend on the amount of data. Closing the namespace frees its
   * memory; closing the emulator closes all namespaces. Rejects with an `Error` that names the invalid option.
   *
   * ```js
   * const seeded = await emulator.snapshot();
   * await using world = await emulator.namespace({ snapshot: seeded });
   * ```
   */
  namespace(options?: NamespaceOptions): Promise<Namespace>;
  /**
   * Stops listening, and waits up to `graceMs` milliseconds of real time for running requests. Default: the limit
   * `drainTimeout`. Resolves when all resources are released, also if the emulator was closed before.
   *
   * ```js
   * await emulator.close({ graceMs: 0 });
   * ```
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Creates the public interface of a server. @internal */
export function createEmulator(server: Server): Emulator {
  const { namespaces, adminTokenFile, operations, signingKey, trust } = server;
  const namespaceFactory =
    (world: CurrentWorld): EmulatedService['namespace'] =>
    async (options) => {
      const { id, listeners, current, close } = await namespaces.create(options, world);
      const namespace = { listeners: listeners.all, current, operations, signingKey, trust, close };
      return { id, ...publicInterfaceOf(namespace, namespaceFactory(current)) };
    };
  return {
    ...publicInterfaceOf(server, namespaceFactory(server.current)),
    ...(adminTokenFile !== undefined && { adminTokenFile }),
  };
}

/** Returns the members that an emulator and a namespace share. */
function publicInterfaceOf(
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
