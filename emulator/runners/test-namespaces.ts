import { OptionError, resolveOptions } from '../config/options.js';
import { type ConnectedNamespace, type GivenOptions, type Namespace, startEmulator } from '../index.js';
import { CLIENT_RULE_IDS, type ClientRuleId } from '../journal/client-rules/ids.js';
import { startChild } from './child-emulator.js';
import { requestLines } from './request-lines.js';
import { failureReasons, type PlannedFault } from './sentences.js';
import { type ConnectedTestNamespace, type TestNamespace, viewOf } from './test-view.js';

/** Options of `withEmulator`: those of `startEmulator`, and the rules that the HTTP client under test must obey. */
export type WithEmulatorOptions = GivenOptions & {
  /** Runs the emulator in this process, which is the default. See `ProcessOptions` for `true`. */
  readonly process?: false | undefined;
  /** Fails a test whose HTTP client breaks a rule for clients. `true`: any rule; a list: one of the rules in it. */
  readonly client?: boolean | readonly ClientRuleId[] | undefined;
};

/** Options of `withEmulator` for an emulator in another process. */
export type ProcessOptions = Omit<WithEmulatorOptions, 'process'> & {
  /**
   * Runs the emulator in a child process, so that tests can call synchronous functions such as `execFileSync('git')`.
   * Members that are synchronous otherwise then return promises.
   */
  readonly process: true;
};

/** Emulator of one test file, in this process or in a child process. */
interface Host {
  namespace(): Promise<Namespace | ConnectedNamespace>;
  close(): Promise<void>;
}

/** Test that has begun. Its subtests share this record and its namespace. */
interface RunningTest {
  readonly namespace: Namespace | ConnectedNamespace;
  /** Ids of the faults that the namespace contained at the start. A test does not fail if they never fire. */
  readonly initialFaults: readonly string[];
  readonly planned: PlannedFault[];
  isClosed: boolean;
}

/** Maximum number of namespaces of ended tests that stay open while other tests run. */
const MAX_ENDED = 20;

/** Result of a test, which the module of a test runner reports to the user. */
export interface EndedTest {
  /** Reasons why a test that passed its own assertions should fail; empty if none. */
  readonly broken: readonly string[];
  /** Lines that describe the requests to the emulator during the test; empty if the test did not fail. */
  readonly requests: readonly string[];
}

/**
 * Emulator of one test file, and a namespace (isolated world of the emulator) for each test. The module of the test
 * runner reports when a test begins and ends, and identifies the test by an object.
 */
export class TestNamespaces {
  readonly #options: GivenOptions;
  readonly #client: true | readonly ClientRuleId[] | undefined;
  readonly #isChild: boolean;
  #emulator: Promise<Host> | undefined;
  readonly #running = new Map<object, RunningTest>();
  /** Ended tests. Their namespaces are closed when the next test begins, because later hooks may still use them. */
  #ended: RunningTest[] = [];
  /** Running and ended tests by the object that identifies them. */
  readonly #byContext = new WeakMap<object, RunningTest>();
  /** Object whose members forward to the namespace of the test that is running when they are used. */
  readonly view: TestNamespace & ConnectedTestNamespace = viewOf(() => this.#current());

  /** Creates no emulator yet; the first test starts it. Throws an `Error` that names an invalid option. */
  constructor(
    { client, process: isChild, ...options }: WithEmulatorOptions | ProcessOptions,
    private readonly advice: string,
    /** Throws if the calling code belongs to a test without a namespace. */
    private readonly check: () => void = () => {},
  ) {
    this.#client = readClient(client);
    this.#isChild = readProcess(isChild);
    resolveOptions(options);
    this.#options = { ...options, port: options.port ?? 0 };
  }

  /** Begins a test and creates its namespace. A subtest whose `parent` is running shares the namespace of `parent`. */
  async begin(test: object, parent?: object): Promise<void> {
    const shared = parent && this.#running.get(parent);
    if (shared) {
      this.#running.set(test, shared);
      this.#byContext.set(test, shared);
      return;
    }
    await this.#closeEnded();
    this.#emulator ??= this.#isChild ? startInChild(this.#options) : startHere(this.#options);
    const namespace = await (await this.#emulator).namespace();
    const alwaysVerified = new Set((await namespace.verify()).unmet.map(({ at }) => at));
    const unfired = (await namespace.verify({ faults: { everyFired: true } })).unmet.map(({ at }) => at);
    const initialFaults = unfired.filter((at) => !alwaysVerified.has(at));
    const started = { namespace, initialFaults, planned: [], isClosed: false };
    this.#running.set(test, started);
    this.#byContext.set(test, started);
  }

  /** Ends a test and returns its result. The result is empty while a test or subtest with the same namespace runs. */
  async end(test: object, { isFailed }: { readonly isFailed: boolean }): Promise<EndedTest> {
    const ended = this.#running.get(test);
    this.#running.delete(test);
    const none = { broken: [], requests: [] };
    if (!ended || [...this.#running.values()].includes(ended)) return none;
    this.#ended.push(ended);
    const broken = await failureReasons(ended, this.#client);
    if (broken.length === 0 && !isFailed) return none;
    const requests = await ended.namespace.requests();
    return { broken, requests: requestLines(requests, requests.dropped) };
  }

  /** Returns true if the object identifies a test that has begun and not ended. */
  has(test: object): boolean {
    return this.#running.has(test);
  }

  /** Returns the objects that identify tests that have begun and not ended. */
  running(): object[] {
    return [...this.#running.keys()];
  }

  /** Returns the namespace of the test that the object identifies. Throws if the namespace is closed or unknown. */
  of(test: object): TestNamespace & ConnectedTestNamespace {
    const found = this.#byContext.get(test);
    if (found && !found.isClosed) return viewOf(() => found);
    throw new Error('emulator.of(context) requires the context of a test of this file that is running at present.');
  }

  /** Closes the emulator and all its namespaces. */
  async close(): Promise<void> {
    const started = this.#emulator;
    this.#emulator = undefined;
    this.#ended = [];
    this.#running.clear();
    // Ignore a failed start of the emulator, because each test has already reported it.
    const emulator = await started?.catch(() => undefined);
    await emulator?.close();
  }

  #current(): RunningTest {
    this.check();
    // Include ended tests, because the user's hooks that run after a test may still use its namespace.
    const [current, ...others] = new Set([...this.#running.values(), ...this.#ended]);
    if (others.length > 0) {
      throw new Error(
        `${others.length + 1} tests of this file run concurrently, so the emulator cannot determine which of them uses it: ${this.advice}.`,
      );
    }
    if (current) return current;
    throw new Error(
      'No test of this file is running. Use the emulator inside a test, or in a beforeEach or afterEach hook.',
    );
  }

  async #closeEnded(): Promise<void> {
    const kept = this.#running.size === 0 ? 0 : MAX_ENDED;
    const closing = this.#ended.splice(0, Math.max(0, this.#ended.length - kept));
    for (const test of closing) test.isClosed = true;
    await Promise.all(closing.map(({ namespace }) => closeNow(namespace)));
  }
}

async function startHere(options: GivenOptions): Promise<Host> {
  const emulator = await startEmulator(options);
  return { namespace: () => emulator.namespace(), close: () => emulator.close({ graceMs: 0 }) };
}

async function startInChild(options: GivenOptions): Promise<Host> {
  const { emulator, close } = await startChild(options);
  return { namespace: () => emulator.namespace(), close };
}

/** Closes a namespace without waiting for its running requests, if it is in this process. */
function closeNow({ close }: { close(options?: { graceMs?: number }): Promise<void> }): Promise<void> {
  return close({ graceMs: 0 });
}

function readProcess(given: unknown): boolean {
  if (given === undefined || typeof given === 'boolean') return given === true;
  throw new OptionError(`process must be true (another process) or false, not ${JSON.stringify(given)}.`);
}

function readClient(given: WithEmulatorOptions['client']): true | readonly ClientRuleId[] | undefined {
  if (given === undefined || given === false) return undefined;
  if (given === true) return true;
  const isList = Array.isArray(given) && given.length > 0;
  if (isList && given.every((id) => CLIENT_RULE_IDS.includes(id))) return given;
  throw new OptionError(
    `client must be true (all rules for clients), or a list of rules out of ${CLIENT_RULE_IDS.join(', ')}.`,
  );
}

/**
 * Returns an error that lists the reasons and requests of a failed test; undefined if the test did not fail. It is
 * thrown in a hook after the test, for test runners that show every error of a test.
 */
export function failureOf({ broken, requests }: EndedTest): Error | undefined {
  if (broken.length + requests.length === 0) return undefined;
  const error = new Error([...broken, ...requests].join('\n'));
  // Remove the stack trace, because it shows this module and not the code of the user.
  error.stack = `Error: ${error.message}`;
  return error;
}
