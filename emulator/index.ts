import { operations } from './api/index.js';
import { type GivenOptions, resolveOptions } from './config/options.js';
import type { ConnectedEmulator } from './library/connected-types.js';
import { createEmulator, type Emulator } from './library/emulator.js';
import type { Log } from './log/log.js';
import type { BuiltInHosts } from './server/https.js';
import { startServer } from './server/server.js';

export type { EmulatorOptions, GivenOptions } from './config/options.js';
export type { GivenAction as Action, GivenFault as Fault, Match, Matcher, When } from './faults/fault.js';
export type { CutPoint, Ending } from './faults/kinds/cut.js';
export type { RetryAfter } from './faults/kinds/error.js';
export type { Stage } from './faults/stage.js';
export type { ClientVerdict } from './journal/client-rules/evaluate.js';
export type { Expectations, RequestExpectation } from './journal/expectations.js';
export type { RequestQuery } from './journal/query.js';
export type { NearRequest, Unmet, Verification } from './journal/verify.js';
export type { EnvironmentOptions, RemoteOptions } from './library/access.js';
export type { EmulatorClock } from './library/clock.js';
export type {
  ConnectedEmulator,
  ConnectedFault,
  ConnectedNamespace,
  ConnectedRepository,
  ConnectedScenario,
  ConnectedService,
  Promised,
} from './library/connected-types.js';
export type { AnsweredRequest, EmulatedService, Emulator, Namespace } from './library/emulator.js';
export type { FaultHandle } from './library/faults.js';
export type { EmulatorHandle } from './library/handle.js';
export type { EmulatorRepository, RepositoryScope, RepositorySource } from './library/repository.js';
export type { ScenarioHandle, ScenarioOptions, ScenarioView } from './library/scenario.js';
export type {
  EmulatorQuotas,
  EmulatorState,
  OrganizationState,
  QuotaChanges,
  QuotaView,
  RepositoryStateView,
  StateChanges,
  StateScope,
  StateView,
} from './library/state.js';
export type { TokenOptions } from './library/token.js';
export type { ExportOptions, Imported, ImportOptions, ImportSource } from './library/transfer.js';
export type { WebhookDelivery } from './library/webhook-delivery.js';
export type { Log, LogLine } from './log/log.js';
export type { GivenScenario as Scenario } from './scenarios/scenario.js';
export type { OrganizationAddress, SecureAddress } from './server/address.js';
export type { BuiltInHosts } from './server/https.js';
export type { NamespaceOptions } from './server/namespaces.js';
export type { Seeded, SeedOptions } from './sources/seeded.js';

/**
 * Starts the whole service in this process. Resolves when the service answers requests.
 * Each organization has its own port. `port` is the port of the first organization. At this port, clients also reach
 * every other organization with the request header `Host: api.<org>.localhost`.
 * `ports` connects the emulator to the calling program:
 * - `hosts`: host names that clients have built in. The emulator serves HTTPS for them.
 * - `log`: function, or object with a method `write`, that is called with a line for every request and internal error.
 *   Default: internal errors are printed to standard error.
 * - `onClosed`: called when all resources of the emulator are released. `isSaved`: true if the state could be saved.
 * - `onWarning`: called with a sentence if the state could not be saved.
 * - `onImport`: called for each piece of `import` that was read, with the bytes of the piece and the total in bytes.
 * Rejects with an `Error` that names the invalid option, or with the system error if a port cannot be bound.
 *
 * ```js
 * await using emulator = await startEmulator({ port: 0 });
 * const answer = await fetch(`${emulator.baseUrl}/api/v1/repos`);
 * ```
 */
export async function startEmulator(
  given: GivenOptions = {},
  ports: {
    readonly log?: Log | Log['write'];
    readonly onClosed?: (isSaved: boolean) => void;
    readonly onWarning?: (sentence: string) => void;
    readonly onImport?: (bytes: number, total: number) => void;
    readonly hosts?: BuiltInHosts;
  } = {},
): Promise<Emulator> {
  const { log, ...others } = ports;
  const listeners = { ...others, ...(log !== undefined && { log: logOf(log) }) };
  return createEmulator(await startServer(resolveOptions(given), operations, listeners));
}

/** Options of `connectEmulator`. */
export interface ConnectOptions {
  /** Admin token of the emulator. Needed only if the emulator was started with one, or listens off loopback. */
  readonly adminToken?: string | undefined;
}

/**
 * Connects to an emulator in another process. The handle has the same names as the one of `startEmulator`, but every
 * member that is synchronous there returns a promise. `url` is the URL of the emulator or of a namespace, such as the
 * variable `EMULATOR_URL` that `emulator exec` sets. Certificates of an `https` URL must be in the file that the
 * variable `NODE_EXTRA_CA_CERTS` or `SSL_CERT_FILE` names.
 *
 * Rejects with an `Error` that states the reason: the URL is invalid, no emulator responds, the server is not an
 * emulator, or the admin token is wrong.
 *
 * ```js
 * const connected = await connectEmulator(emulator.baseUrl, { adminToken: undefined });
 * console.log(connected.org, await connected.clock.now());
 * ```
 */
export async function connectEmulator(
  url: string | URL,
  { adminToken }: ConnectOptions = {},
): Promise<ConnectedEmulator> {
  // The module is imported on demand, so that programs that start their own emulator do not load it.
  const { connectTo } = await import('./library/connect.js');
  return connectTo(url, { adminToken, environment: process.env, operations });
}

function logOf(given: Log | Log['write']): Log {
  if (typeof given === 'function') return { write: given };
  if (typeof given?.write === 'function') return given;
  throw new TypeError('log must be a function that takes a line, or an object with a method write.');
}
