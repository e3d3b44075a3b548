import { after, afterEach, beforeEach } from 'node:test';
import { type ProcessOptions, TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';
import type { ConnectedTestEmulator, TestEmulator } from './test-view.js';

export type { ProcessOptions, WithEmulatorOptions } from './test-namespaces.js';
export type { ConnectedTestEmulator, ConnectedTestNamespace, TestEmulator, TestNamespace } from './test-view.js';

/** Members of the context that node:test passes to `beforeEach` and `afterEach`. The types for Node 20 lack them. */
interface HookContext {
  diagnostic(message: string): void;
  readonly fullName?: string;
  readonly passed?: boolean;
}

/**
 * Gives each test of a `node:test` test file its own namespace. The emulator starts before the first test and stops
 * after the last one. If called inside a `describe`, only the tests of that block get a namespace. Subtests share the
 * namespace of their test. Concurrent tests must call `emulator.of(t)` to get theirs.
 *
 * A test fails if a fault that it injected did not fire or if an expectation of a running scenario is unmet. With the
 * option `client`, it also fails if its client breaks a rule for clients. The requests of a failed test are printed
 * with the failure.
 *
 * With the option `process`, the emulator runs in a child process, so that tests can call synchronous functions such as
 * `execFileSync('git')`. Members that are synchronous otherwise then return promises.
 *
 * ```js
 * import assert from 'node:assert/strict';
 * import test from 'node:test';
 * import { withEmulator } from 'repohost-emulator/node-test';
 *
 * const emulator = withEmulator();
 *
 * test('a lost response is noticed', async () => {
 *   const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
 *   emulator.fault('lost*1');
 *   await assert.rejects(fetch(`${emulator.baseUrl}/api/repos`, { headers }));
 * });
 * ```
 */
export function withEmulator(options: ProcessOptions): ConnectedTestEmulator;
export function withEmulator(options?: WithEmulatorOptions): TestEmulator;
export function withEmulator(options: WithEmulatorOptions | ProcessOptions = {}): TestEmulator | ConnectedTestEmulator {
  const tests = new TestNamespaces(options, 'use emulator.of(t) with the context t of each test');
  beforeEach(async (context) => tests.begin(context, parentOf(context as HookContext, tests.running())));
  afterEach(async (context) => {
    const { diagnostic, passed = true } = context as HookContext;
    const { broken, requests } = await tests.end(context, { isFailed: !passed });
    for (const line of requests) diagnostic.call(context, line);
    if (broken.length > 0) throw new Error(broken.join('\n'));
  });
  after(() => tests.close());
  return Object.assign(tests.view, { of: (context: object) => tests.of(context) });
}

/**
 * Returns the context of the running test that contains a subtest; undefined for a test that is not a subtest. The full
 * name of a subtest begins with the full name of its test and ` > `.
 */
function parentOf({ fullName }: HookContext, running: readonly object[]): object | undefined {
  return running.find((test) => fullName?.startsWith(`${(test as HookContext).fullName} > `));
}
