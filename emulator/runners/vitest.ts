import { afterAll, afterEach, beforeEach } from 'vitest';
import { failureOf, type ProcessOptions, TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';
import type { ConnectedTestEmulator, TestEmulator } from './test-view.js';

export type { ProcessOptions, WithEmulatorOptions } from './test-namespaces.js';
export type { ConnectedTestEmulator, ConnectedTestNamespace, TestEmulator, TestNamespace } from './test-view.js';

/**
 * Gives each test of a vitest test file its own namespace. The emulator starts before the first test and stops after
 * the last one. If called inside a `describe`, only the tests of that block get a namespace. Each `test.concurrent` has
 * to call `emulator.of(context)` to get its own.
 *
 * A test fails if a fault that it injected did not fire or if an expectation of a running scenario is unmet. With the
 * option `client`, it also fails if its client breaks a rule for clients. The requests of a failed test are printed
 * with the failure.
 *
 * With the option `process`, the emulator runs in a child process, so that tests can call synchronous functions such as
 * `execFileSync('git')`. Members that are synchronous otherwise then return promises.
 *
 * ```js
 * import { withEmulator } from 'repohost-emulator/vitest';
 * import { expect, test } from 'vitest';
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
export function withEmulator(options: ProcessOptions): ConnectedTestEmulator;
export function withEmulator(options?: WithEmulatorOptions): TestEmulator;
export function withEmulator(options: WithEmulatorOptions | ProcessOptions = {}): TestEmulator | ConnectedTestEmulator {
  const tests = new TestNamespaces(options, 'use emulator.of(context) with the context of each test');
  beforeEach(({ task }) => tests.begin(task));
  afterEach(async ({ task }) => {
    const failure = failureOf(await tests.end(task, { isFailed: task.result?.state === 'fail' }));
    if (failure) throw failure;
  });
  afterAll(() => tests.close());
  const of = (context: object) => tests.of('task' in context ? (context.task as object) : context);
  return Object.assign(tests.view, { of });
}
