import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { failureOf, type ProcessOptions, TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';
import type { ConnectedTestNamespace, TestNamespace } from './test-view.js';

export type { ProcessOptions, WithEmulatorOptions } from './test-namespaces.js';
export type { ConnectedTestNamespace, TestNamespace } from './test-view.js';

/**
 * Gives each test of a jest test file its own namespace. The emulator starts before the first test and stops after the
 * last one. If called inside a `describe`, only the tests of that block get a namespace. A `test.concurrent` that uses
 * the namespace fails, because jest runs no hooks for it.
 *
 * A test fails if a fault that it injected did not fire or if an expectation of a running scenario is unmet. With the
 * option `client`, it also fails if its client breaks a rule for clients. The requests of a failed test are printed
 * with the failure.
 *
 * With the option `process`, the emulator runs in a child process, so that tests can call synchronous functions such as
 * `execFileSync('git')`. Members that are synchronous otherwise then return promises.
 *
 * ```js
 * const { withEmulator } = require('repohost-emulator/jest');
 *
 * const emulator = withEmulator();
 *
 * test('a lost response is noticed', async () => {
 *   const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
 *   emulator.fault('lost*1');
 *   await expect(fetch(`${emulator.baseUrl}/api/repos`, { headers })).rejects.toThrow();
 * });
 * ```
 */
export function withEmulator(options: ProcessOptions): ConnectedTestNamespace;
export function withEmulator(options?: WithEmulatorOptions): TestNamespace;
export function withEmulator(
  options: WithEmulatorOptions | ProcessOptions = {},
): TestNamespace | ConnectedTestNamespace {
  const concurrent = new AsyncLocalStorage<true>();
  const tests = new TestNamespaces(options, 'run them one after the other', () => {
    if (!concurrent.getStore()) return;
    throw new Error(
      'withEmulator does not support test.concurrent, because jest runs no hooks for such tests. Use test instead.',
    );
  });
  const block = circusState()?.currentDescribeBlock;
  const marked = new Set<CircusTest>();
  const mark = (): void => {
    if (block) markConcurrent(block, concurrent, marked);
  };
  // Wrap the concurrent tests as soon as the test file has been read, because jest 29 starts concurrent tests before
  // the hooks of inner blocks run.
  queueMicrotask(mark);
  // Wrap also the concurrent tests that the file defined after a top-level await, because the microtask ran earlier.
  beforeAll(async () => mark());
  let test = {};
  // The hook has no parameter, because jest passes a `done` callback to a hook with a parameter and waits for its call.
  beforeEach(() => {
    test = {};
    return tests.begin(test);
  });
  afterEach(async () => {
    const isFailed = (circusState()?.currentlyRunningTest?.errors.length ?? 0) > 0;
    const failure = failureOf(await tests.end(test, { isFailed }));
    if (failure) throw failure;
  });
  afterAll(() => tests.close());
  return tests.view;
}

/** Test in the internal state of jest-circus (the part of jest that runs tests). */
interface CircusTest {
  readonly type: 'test';
  readonly concurrent: boolean;
  /** Function of the test; undefined for `test.todo`. */
  fn?: (...args: unknown[]) => unknown;
  readonly errors: readonly unknown[];
}

interface CircusBlock {
  readonly type: 'describeBlock';
  readonly children: readonly (CircusBlock | CircusTest)[];
}

interface CircusState {
  readonly currentDescribeBlock: CircusBlock;
  readonly currentlyRunningTest?: CircusTest | null;
}

/**
 * Returns the internal state of jest-circus, which lists all tests; undefined if another runner is used. It is needed,
 * because jest gives hooks no information about their test. The state is a property of the global object, under a
 * symbol with the description `JEST_STATE_SYMBOL`.
 */
function circusState(): CircusState | undefined {
  const name = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL');
  return name && (globalThis as unknown as Record<symbol, CircusState>)[name];
}

/**
 * Wraps the function of each concurrent test of a `describe` block in an `AsyncLocalStorage` context, by which a use of
 * the emulator inside such a test is recognized and refused. `marked`: tests that are already wrapped.
 */
function markConcurrent({ children }: CircusBlock, concurrent: AsyncLocalStorage<true>, marked: Set<CircusTest>): void {
  for (const child of children) {
    if (child.type !== 'test') markConcurrent(child, concurrent, marked);
    else if (child.concurrent && child.fn && !marked.has(child)) {
      marked.add(child);
      const { fn } = child;
      const run = (...args: unknown[]): unknown => concurrent.run(true, () => fn(...args));
      // Keep the number of parameters of the function, because jest uses it to decide if a test takes a callback.
      child.fn = Object.defineProperty(run, 'length', { value: fn.length });
    }
  }
}
