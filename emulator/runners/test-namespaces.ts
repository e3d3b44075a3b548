import { OptionError, resolveOptions } from '../config/options.js';
import { type Emulator, type GivenOptions, type Namespace, startEmulator } from '../index.js';
import { CLIENT_RULE_IDS, type ClientRuleId } from '../journal/client-rules/ids.js';
import { requestLines } from './request-lines.js';
import { type PlannedFault, sentencesOf } from './sentences.js';
import { type TestNamespace, viewOf } from './test-view.js';

/** The options of `startEmulator`, and what is asked of the client. */
export type WithEmulatorOptions = GivenOptions & {
  /** Fails a test whose client breaks one of the rules for clients: all of them, or those that are named. */
  readonly client?: boolean | readonly ClientRuleId[] | undefined;
};

/** One test, with the subtests that it makes. */
interface RunningTest {
  readonly namespace: Namespace;
  /** Places of the faults that its namespace began with and that need not fire. */
  readonly begunWith: readonly string[];
  readonly planned: PlannedFault[];
  isClosed: boolean;
}

/** Namespaces of tests that ended while others ran on, which are left open. */
const MOST_ENDED = 20;

/** What a runner reports of a test that has ended. */
export interface EndedTest {
  /** Why it fails, in sentences; empty where it does not, or did before. */
  readonly broken: readonly string[];
  /** Its requests; empty where it did not fail. */
  readonly requests: readonly string[];
}

/**
 * The emulator of one test file, and a namespace for each of its tests. The runner's module says when a test begins and
 * ends, and names it by an object.
 */
export class TestNamespaces {
  readonly #options: GivenOptions;
  readonly #client: true | readonly ClientRuleId[] | undefined;
  #emulator: Promise<Emulator> | undefined;
  readonly #running = new Map<object, RunningTest>();
  /** Hooks that run behind ours still find the namespace of their test: it is closed when the next one begins. */
  #ended: RunningTest[] = [];
  /** Also of tests that have ended. */
  readonly #byContext = new WeakMap<object, RunningTest>();
  /** Stands for the namespace of the test that is running. */
  readonly view: TestNamespace = viewOf(() => this.#current());

  /** Throws an `Error` that names an option which cannot be. */
  constructor(
    { client, ...options }: WithEmulatorOptions,
    private readonly advice: string,
    /** Throws if the calling code belongs to a test without a namespace. */
    private readonly check: () => void = () => {},
  ) {
    this.#client = readClient(client);
    resolveOptions(options);
    this.#options = { ...options, port: options.port ?? 0 };
  }

  /** A test begins. A subtest, whose `parent` is running, shares the namespace of that. */
  async begin(test: object, parent?: object): Promise<void> {
    const shared = parent && this.#running.get(parent);
    if (shared) {
      this.#running.set(test, shared);
      this.#byContext.set(test, shared);
      return;
    }
    await this.#closeEnded();
    this.#emulator ??= startEmulator(this.#options);
    const namespace = await (await this.#emulator).namespace();
    const demanded = new Set(namespace.verify().unmet.map(({ at }) => at));
    const unfired = namespace.verify({ faults: { everyFired: true } }).unmet.map(({ at }) => at);
    const begunWith = unfired.filter((at) => !demanded.has(at));
    const begun = { namespace, begunWith, planned: [], isClosed: false };
    this.#running.set(test, begun);
    this.#byContext.set(test, begun);
  }

  /** A test has ended: what there is to say of it. */
  end(test: object, { isFailed }: { readonly isFailed: boolean }): EndedTest {
    const ended = this.#running.get(test);
    this.#running.delete(test);
    const none = { broken: [], requests: [] };
    if (!ended || [...this.#running.values()].includes(ended)) return none;
    this.#ended.push(ended);
    const broken = sentencesOf(ended, this.#client);
    if (broken.length === 0 && !isFailed) return none;
    const requests = ended.namespace.requests();
    return { broken, requests: requestLines(requests, requests.dropped) };
  }

  /** Whether the object names a test that is running. */
  has(test: object): boolean {
    return this.#running.has(test);
  }

  /** The objects that name the tests which are running. */
  running(): object[] {
    return [...this.#running.keys()];
  }

  /** The namespace of one of several tests that run at the same time. */
  of(test: object): TestNamespace {
    const found = this.#byContext.get(test);
    if (found && !found.isClosed) return viewOf(() => found);
    throw new Error('emulator.of(context) needs the context of a test of this file that is running.');
  }

  /** Ends the emulator, and with it whatever of it is left. */
  async close(): Promise<void> {
    const started = this.#emulator;
    this.#emulator = undefined;
    this.#ended = [];
    this.#running.clear();
    // One that did not start has said so in the tests.
    const emulator = await started?.catch(() => undefined);
    await emulator?.close({ graceMs: 0 });
  }

  #current(): RunningTest {
    this.check();
    // One that has ended may have hooks that still run.
    const [current, ...others] = new Set([...this.#running.values(), ...this.#ended]);
    if (others.length > 0) {
      throw new Error(
        `${others.length + 1} tests of this file run at the same time, and the emulator cannot tell which of them asks: ${this.advice}.`,
      );
    }
    if (current) return current;
    throw new Error(
      'No test of this file is running that the emulator could give a namespace: use it inside a test, or in a hook before or after each.',
    );
  }

  async #closeEnded(): Promise<void> {
    const kept = this.#running.size === 0 ? 0 : MOST_ENDED;
    const closing = this.#ended.splice(0, Math.max(0, this.#ended.length - kept));
    for (const test of closing) test.isClosed = true;
    await Promise.all(closing.map(({ namespace }) => namespace.close({ graceMs: 0 })));
  }
}

function readClient(given: WithEmulatorOptions['client']): true | readonly ClientRuleId[] | undefined {
  if (given === undefined || given === false) return undefined;
  if (given === true) return true;
  const isList = Array.isArray(given) && given.length > 0;
  if (isList && given.every((id) => CLIENT_RULE_IDS.includes(id))) return given;
  throw new OptionError(`client has to be true, or a list of ${CLIENT_RULE_IDS.join(', ')}.`);
}

/** What is thrown behind a test that failed, for runners that show every error of a test with it. */
export function failureOf({ broken, requests }: EndedTest): Error | undefined {
  if (broken.length + requests.length === 0) return undefined;
  const error = new Error([...broken, ...requests].join('\n'));
  // Where it was thrown is of no use to the reader.
  error.stack = `Error: ${error.message}`;
  return error;
}
