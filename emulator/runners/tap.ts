import t, { type Test } from 'tap';
import { type ProcessOptions, TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';
import type { ConnectedTestEmulator, TestEmulator } from './test-view.js';

export type { ProcessOptions, WithEmulatorOptions } from './test-namespaces.js';
export type { ConnectedTestEmulator, ConnectedTestNamespace, TestEmulator, TestNamespace } from './test-view.js';

/**
 * Gives each test of a tap test file its own namespace. The emulator starts before the first test and stops after the
 * last one. Subtests share the namespace of their test. Concurrent tests must call `emulator.of(t)` to get theirs.
 *
 * A test fails if a fault that it injected did not fire or if an expectation of a running scenario is unmet. With the
 * option `client`, it also fails if its client breaks a rule for clients. The requests of a failed test are printed
 * with the failure.
 *
 * With the option `process`, the emulator runs in a child process, so that tests can call synchronous functions such as
 * `execFileSync('git')`. Members that are synchronous otherwise then return promises.
 *
 * ```js
 * import { withEmulator } from 'repohost-emulator/tap';
 * import t from 'tap';
 *
 * const emulator = withEmulator();
 *
 * t.test('a lost response is noticed', async (t) => {
 *   const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
 *   emulator.fault('lost*1');
 *   await t.rejects(fetch(`${emulator.baseUrl}/api/repos`, { headers }));
 * });
 * ```
 */
export function withEmulator(options: ProcessOptions): ConnectedTestEmulator;
export function withEmulator(options?: WithEmulatorOptions): TestEmulator;
export function withEmulator(options: WithEmulatorOptions | ProcessOptions = {}): TestEmulator | ConnectedTestEmulator {
  const tests = new TestNamespaces(options, 'use emulator.of(t) with the t of each test');
  t.beforeEach((test) => tests.begin(test, parentOf(test, tests)));
  t.afterEach(async (test) => {
    const { broken, requests } = await tests.end(test, { isFailed: !test.passing() });
    const [first, ...further] = broken;
    for (const line of [...further, ...requests]) test.comment(line);
    // Throw the first reason, because tap reports an error of an `afterEach` hook as a failure of the ended test.
    if (first !== undefined) throw new Error(first);
  });
  t.teardown(() => tests.close());
  return Object.assign(tests.view, { of: (context: object) => tests.of(context) });
}

function parentOf(test: Test, tests: TestNamespaces): object | undefined {
  const { parent } = test as { readonly parent?: object };
  return parent && tests.has(parent) ? parent : undefined;
}
