import type { Seeded, SeedOptions } from '../sources/seeded.js';
import type { EmulatorClock } from './clock.js';
import type { EmulatedService } from './emulator.js';
import type { FaultHandle } from './faults.js';
import type { EmulatorHandle } from './handle.js';
import type { EmulatorRepository, RepositoryScope, RepositorySource } from './repository.js';
import type { ScenarioHandle } from './scenario.js';
import type { EmulatorQuotas, EmulatorState } from './state.js';

/** Members of an object in this process as members of an object in another process: each one results in a promise. */
export type Promised<Members> = {
  readonly [Name in keyof Members]: Members[Name] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Promise<Awaited<Result>>
    : Promise<Members[Name]>;
};

/**
 * One emulated service in another process, which is an emulator or a namespace. The names are those of
 * `EmulatedService`. Members that are synchronous there return promises. The handle sends requests to the admin API,
 * and keeps no connection open. If the admin API refuses a request, the member rejects with an `Error` whose message is
 * the reason from the response.
 *
 * ```js
 * const connected = await connectEmulator(emulator.baseUrl);
 * const fault = await connected.fault('lost*1');
 * console.log(await fault.fired, await connected.clock.now(), (await connected.requests()).length);
 * const story = await connected.scenario({ id: 'quiet', expect: { requests: [{ count: 0, match: { status: 500 } }] } });
 * console.log((await story.read()).isStarted, (await connected.verify()).met);
 * await connected.repository('team/app').seed({ 'README.md': 'hello' });
 * await using world = await connected.namespace({ snapshot: await connected.snapshot() });
 * ```
 */
export interface ConnectedService
  extends EmulatorHandle,
    Promised<Pick<EmulatedService, 'requests' | 'verify' | 'release' | 'outbox'>> {
  readonly clock: Promised<EmulatorClock>;
  readonly quotas: Promised<EmulatorQuotas>;
  readonly state: Promised<EmulatorState>;
  /** Returns a handle of the repository with this name. The repository need not exist. Sends no request. */
  repository(name: string, scope?: RepositoryScope): ConnectedRepository;
  fault(...given: Parameters<EmulatedService['fault']>): Promise<ConnectedFault>;
  scenario(...given: Parameters<EmulatedService['scenario']>): Promise<ConnectedScenario>;
  namespace(...given: Parameters<EmulatedService['namespace']>): Promise<ConnectedNamespace>;
}

/** Emulator in another process, as returned by `connectEmulator`. */
export interface ConnectedEmulator extends ConnectedService {
  /**
   * Stops the emulator, for all its clients. Resolves when it no longer accepts connections. Do not call it in a test
   * that shares the emulator with others. Rejects if the state could not be saved to the folder of the option `persist`.
   *
   * ```js
   * const connected = await connectEmulator(emulator.baseUrl);
   * await connected.close();
   * ```
   */
  close(): Promise<void>;
}

/** Isolated world of an emulator in another process. */
export interface ConnectedNamespace extends ConnectedService, AsyncDisposable {
  readonly id: string;
  /**
   * Removes the namespace and everything in it. A second call is allowed.
   *
   * ```js
   * const connected = await connectEmulator(emulator.baseUrl);
   * const namespace = await connected.namespace();
   * await namespace.close();
   * ```
   */
  close(): Promise<void>;
}

/** Handle of a fault in an emulator in another process. */
export interface ConnectedFault
  extends Promised<Omit<FaultHandle, 'id' | typeof Symbol.asyncDispose>>,
    AsyncDisposable {
  readonly id: string;
}

/** Handle of a scenario in an emulator in another process. */
export interface ConnectedScenario extends Promised<Pick<ScenarioHandle, 'read' | 'remove'>>, AsyncDisposable {
  readonly id: string;
}

/** Handle of a repository in an emulator in another process. */
export interface ConnectedRepository extends Pick<EmulatorRepository, 'org' | 'name'> {
  /**
   * Fills the repository from `source`. This process reads the source, and sends the result to the emulator. See
   * `EmulatorRepository.seed`. A repository of an emulator cannot be the source; pass the URL of its remote instead.
   *
   * ```js
   * const connected = await connectEmulator(emulator.baseUrl);
   * await connected.repository('team/app').seed({ 'README.md': 'hello' });
   * await connected.repository('team/fork').seed(await connected.remote('team/app'));
   * ```
   */
  seed(source: Exclude<RepositorySource, EmulatorRepository>, options?: SeedOptions): Promise<Seeded>;
}
