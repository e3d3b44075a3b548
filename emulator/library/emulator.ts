import { wiringOf } from '../admin/exec-variables.js';
import type { GivenFault } from '../faults/fault.js';
import type { JournalEntry } from '../journal/entry.js';
import type { Expectations } from '../journal/expectations.js';
import { type RequestQuery, selectorOf } from '../journal/query.js';
import type { Verification } from '../journal/verify.js';
import type { GivenScenario } from '../scenarios/scenario.js';
import { verifyWorld } from '../scenarios/verify-world.js';
import { runSync } from '../schedule/steps.js';
import { runningAt } from '../server/address.js';
import type { Listener } from '../server/listeners.js';
import type { NamespaceOptions } from '../server/namespaces.js';
import type { Server } from '../server/server.js';
import type { CurrentWorld } from '../world/current-world.js';
import { environmentOf, remoteUrl } from './access.js';
import { clockOf, type EmulatorClock } from './clock.js';
import { type FaultHandle, setFault } from './faults.js';
import type { EmulatorHandle } from './handle.js';
import { readOutbox } from './outbox.js';
import { type EmulatorRepository, type RepositoryScope, repositoryOf } from './repository.js';
import type { ScenarioHandle, ScenarioOptions } from './scenario.js';
import { type EmulatorQuotas, type EmulatorState, quotasOf, stateOf } from './state.js';
import { signToken, type TokenOptions } from './token.js';
import { exportWorld, importWorld } from './transfer.js';
import type { WebhookDelivery } from './webhook-delivery.js';

/**
 * Entry of the journal for one request. The journal is the record of the requests that the emulator answered. The entry
 * is a copy, so later requests do not change it.
 */
export type AnsweredRequest = JournalEntry;

/**
 * Result of `requests`: entries of the journal, oldest first. The journal is the record of the requests that the
 * emulator answered.
 */
export interface AnsweredRequests extends ReadonlyArray<AnsweredRequest> {
  /**
   * Number of earlier requests that the journal dropped because it was full. The property is not enumerable, so a test
   * can compare the list with a plain array.
   */
  readonly dropped: number;
}

/** Running emulator, as returned by `startEmulator`. It is a repository hosting service in this process. */
export interface Emulator extends EmulatedService {
  /**
   * Path of the file that contains the generated admin token. Absent if the option `adminToken` was given, or if the
   * emulator listens only on loopback addresses.
   */
  readonly adminTokenFile?: string;
}

/**
 * Isolated world of an emulator. A world is the complete state of one emulated service, such as its repositories and
 * clock.
 */
export interface Namespace extends EmulatedService {
  /**
   * Id of the namespace. Clients can reach the namespace under the host name `<id>.ns.localhost` at the first port of
   * the emulator.
   */
  readonly id: string;
}

/** One emulated service in this process, which is an emulator or a namespace. */
export interface EmulatedService extends EmulatorHandle, AsyncDisposable {
  /**
   * Returns the journal entries of the requests that match `query`, oldest first. Without `query`, returns all entries.
   * Requests to the admin API are not recorded.
   *
   * The journal contains at most `maxJournal` requests (a limit). When it is full, it drops the oldest requests and
   * counts them in `dropped`.
   *
   * ```js
   * const [refused] = emulator.requests({ operation: 'commitPack', status: 409 });
   * console.log(refused.id, refused.code, refused.why);
   * ```
   */
  requests(query?: RequestQuery): AnsweredRequests;
  /**
   * Verifies the requests in the journal against expectations about their number, their order and the pauses between
   * them. With `client: true`, also verifies that the requests obey the rules for clients of the service.
   *
   * Two kinds of expectations are always included: the member `expect` of each injected fault, and the expectations of
   * each running scenario. Throws an `Error` that names the invalid member of `expectations`.
   *
   * ```js
   * const { met, unmet } = emulator.verify({
   *   requests: [{ match: { operation: 'commitPack' }, count: 2, minGap: 'retry-after' }],
   *   client: true,
   * });
   * ```
   */
  verify(expectations?: Expectations): Verification;
  /**
   * Clock of the emulator, which tests can control. For example, `emulator.clock.advance(1_000)` advances the time by
   * 1,000 ms.
   */
  readonly clock: EmulatorClock;
  /**
   * Request quotas, which limit the rate of requests. For example, `emulator.quotas.change({ gateway: { capacity: 20,
   * refill: '10/s' } })` allows 20 requests at once, and then 10 per second.
   */
  readonly quotas: EmulatorQuotas;
  /**
   * Simulated states of organizations and repositories, such as an archived repository. For example,
   * `emulator.state.read().organizations.demo.hosting` is the state of the hosting of the organization `demo`.
   */
  readonly state: EmulatorState;
  /**
   * Returns a handle of the repository with this name. The repository need not exist. The handle's method `seed` fills
   * the repository without an HTTP request. The handle can also be the source with which another repository is seeded.
   *
   * ```js
   * await emulator.repository('team/app').seed({ 'README.md': 'hello', 'src/index.js': 'export {};' });
   * await emulator.repository('team/fork').seed(emulator.repository('team/app'));
   * ```
   */
  repository(name: string, scope?: RepositoryScope): EmulatorRepository;
  /**
   * Injects a fault, which is a deliberate failure of requests, such as an error response or a cut connection. The
   * fault applies until it is removed. Throws an `Error` with the reason if the fault could never fire.
   *
   * `spec` is a string in the grammar of the request header `X-Emulator-Fault`, or an object, which can also select the
   * affected requests.
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
   * Registers a scenario and starts it. A scenario consists of an initial state, faults, steps that change the state
   * later, and expectations. `verify` includes the expectations of running scenarios.
   *
   * `source` is the id of a registered or shipped scenario (`emulator scenario ls`), the path of a YAML or JSON file, or
   * an object. Rejects with an `Error` that names what is invalid.
   *
   * ```js
   * await emulator.scenario({ id: 'story', expect: { requests: [{ match: { operation: 'grep' }, count: 2 }] } });
   * // … a test …
   * assert.equal(emulator.verify().met, false); // nothing was searched
   * ```
   */
  scenario(source: string | GivenScenario, options?: ScenarioOptions): Promise<ScenarioHandle>;
  /**
   * Returns the pending and the past deliveries to webhooks, oldest first.
   *
   * ```js
   * const pushes = emulator.outbox().filter(({ event }) => event === 'push');
   * ```
   */
  outbox(): readonly WebhookDelivery[];
  /**
   * Releases a latch. A latch is a named barrier at which a fault holds requests, or until which a simulated state
   * lasts. The held requests continue, and the states end. Returns the number of released requests plus the number of
   * ended states.
   *
   * Requests and states that reach the latch after this call wait for the next release.
   *
   * ```js
   * emulator.fault('hold*1;latch=door');
   * // … when the request is there …
   * assert.equal(emulator.release('door'), 1);
   * ```
   */
  release(latch: string): number;
  /**
   * Creates an isolated world in this process, so that concurrent tests do not affect each other. The world has its own
   * ports, clock, ids, requests, quotas and limits. Rejects with an `Error` that names the invalid option.
   *
   * With the option `snapshot`, the namespace starts in the state of a snapshot of this world. It shares the objects of
   * the snapshot, so creating it costs no more for more data. Closing the namespace frees its memory. Closing the
   * emulator closes all its namespaces.
   *
   * ```js
   * const seeded = await emulator.snapshot();
   * await using world = await emulator.namespace({ snapshot: seeded });
   * ```
   */
  namespace(options?: NamespaceOptions): Promise<Namespace>;
  /**
   * Closes the emulator. It stops listening for connections and waits at most `graceMs` milliseconds of real time until
   * the running requests have finished. `graceMs` is the limit `drainTimeout` by default.
   *
   * Resolves when all resources are released. A second call is allowed and resolves at the same time.
   *
   * ```js
   * await emulator.close({ graceMs: 0 });
   * ```
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Creates the `Emulator` object that `startEmulator` returns to users. `server` is the running server. @internal */
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

/** Returns the methods and properties that `Emulator` and `Namespace` objects have in common. */
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
  const [{ org: organization }] = orgs as [(typeof orgs)[number]];
  const tokens = {
    ...running,
    token: (options: TokenOptions = {}) => signToken({ current, operations, signingKey }, options),
  };
  const allowedScopes = (): readonly string[] =>
    current.world.state.organizations.get(organization)?.keys.find(running.keyId)?.allowedScopes ?? ['*'];
  return {
    ...orgs[0]!,
    ...tokens,
    ...(trust !== undefined && { ca: trust }),
    remote: (repo, options) => remoteUrl(tokens, repo, options),
    env: (options = {}) => environmentOf(tokens, options, { ...wiringOf(orgs[0]!), allowed: allowedScopes() }),
    export: (options) => exportWorld(current, options),
    import: (source, options) => importWorld(current, source, options),
    scenario: async (source, options) => {
      // The module is imported on demand, because it creates the large schema of scenarios.
      const { addScenario } = await import('./scenario.js');
      return addScenario(current, { operations, organization }, source, options);
    },
    outbox: () => readOutbox(current),
    requests: (query) => answeredRequests(current, query),
    verify: (expectations = {}) => runSync(verifyWorld(current.world, expectations)),
    clock: clockOf(current),
    state: stateOf(current, organization),
    quotas: quotasOf(current),
    repository: (name, { org = organization } = {}) => repositoryOf(current, org, name),
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
