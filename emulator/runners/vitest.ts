import { afterAll, afterEach, beforeEach } from 'vitest';
import { failureOf, TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';
import type { TestEmulator, TestNamespace } from './test-view.js';

export type { WithEmulatorOptions } from './test-namespaces.js';
export type { TestEmulator, TestNamespace } from './test-view.js';

/**
 * Gives each test of a file of vitest a namespace of its own, of one emulator that is started for the first of them and
 * ends with the file; inside a `describe`, each test of that.
 *
 * A test fails when a fault that it planned did not fire, when a running scenario is unmet and, with `client`, when its
 * client broke a rule for clients. The requests of a test that fails are printed with it. Of `test.concurrent` each asks `emulator.of(context)`.
 *
 * ```js
 * import { withEmulator } from 'repohost-emulator/vitest';
 * import { expect, test } from 'vitest';
 *
 * const emulator = withEmulator();
 *
 * test('a lost answer is noticed', async () => {
 *   const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
 *   emulator.fault('lost*1');
 *   await expect(fetch(`${emulator.baseUrl}/api/repos`, { headers })).rejects.toThrow();
 * });
 * ```
 */
export function withEmulator(options: WithEmulatorOptions = {}): TestEmulator {
  const tests = new TestNamespaces(options, 'use emulator.of(context) with the context of each test');
  beforeEach(({ task }) => tests.begin(task));
  afterEach(async ({ task }) => {
    const failure = failureOf(tests.end(task, { isFailed: task.result?.state === 'fail' }));
    if (failure) throw failure;
  });
  afterAll(() => tests.close());
  const of = (context: object): TestNamespace => tests.of('task' in context ? (context.task as object) : context);
  return Object.assign(tests.view, { of });
}
