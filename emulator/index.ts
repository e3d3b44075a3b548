import { operations } from './api/index.js';
import { type GivenOptions, resolveOptions } from './config/options.js';
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
export type { EmulatorClock } from './library/clock.js';
export type { AnsweredRequest, EmulatedService, Emulator, Namespace } from './library/emulator.js';
export type { FaultHandle } from './library/faults.js';
export type { EmulatorRepository, RepositoryScope, RepositorySource } from './library/repository.js';
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
export type { Log, LogLine } from './log/log.js';
export type { OrganizationAddress, SecureAddress } from './server/address.js';
export type { BuiltInHosts } from './server/https.js';
export type { NamespaceOptions } from './server/namespaces.js';
export type { Seeded, SeedOptions } from './sources/seeded.js';

/**
 * Starts the whole service in this process and resolves once it answers. Each organization has a port
 * of its own; the first one's is `port`, and there `Host: api.<org>.localhost` reaches the others too.
 * `ports.hosts` are hosts that clients have built in, for which it serves HTTPS;
 * `ports.log`, a function or an object with `write`, gets every request and internal error (default: prints internal errors to standard
 * error), `ports.onClosed` is called when nothing of it is left, and told whether the state could be saved, `ports.onWarning` when the state
 * could not be saved, and `ports.onImport` of the bytes that `import` has read of how many. Rejects with an error that names an option that cannot be used, and with the
 * system's error when a port cannot be bound.
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

function logOf(given: Log | Log['write']): Log {
  if (typeof given === 'function') return { write: given };
  if (typeof given?.write === 'function') return given;
  throw new TypeError('log must be a function that takes a line, or an object with a method write.');
}
