import t, { type Test } from 'tap';
import { TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';
import type { TestEmulator } from './test-view.js';

export type { WithEmulatorOptions } from './test-namespaces.js';
export type { TestEmulator, TestNamespace } from './test-view.js';

/**
 * Gives each test of a file of tap a namespace of its own, of one emulator that is started for the first of them and ends
 * with the file. Subtests share the namespace of their test.
 *
 * A test fails when a fault that it planned did not fire, when a running scenario is unmet and, with `client`, when its
 * client broke a rule for clients. The requests of a test that fails are printed with it. Of tests that run at the same time each asks `emulator.of(t)`.
 *
 * ```js
 * import { withEmulator } from 'repohost-emulator/tap';
 * import t from 'tap';
 *
 * const emulator = withEmulator();
 *
 * t.test('a lost answer is noticed', async (t) => {
 *   const headers = { authorization: `Bearer ${await emulator.token({ scopes: ['org:read'] })}` };
 *   emulator.fault('lost*1');
 *   await t.rejects(fetch(`${emulator.baseUrl}/api/repos`, { headers }));
 * });
 * ```
 */
export function withEmulator(options: WithEmulatorOptions = {}): TestEmulator {
  const tests = new TestNamespaces(options, 'use emulator.of(t) with the t of each test');
  t.beforeEach((test) => tests.begin(test, parentOf(test, tests)));
  t.afterEach(async (test) => {
    const { broken, requests } = tests.end(test, { isFailed: !test.passing() });
    const [first, ...further] = broken;
    for (const line of [...further, ...requests]) test.comment(line);
    // The test has ended, so tap reports an error thrown here as a failure of the test.
    if (first !== undefined) throw new Error(first);
  });
  t.teardown(() => tests.close());
  return Object.assign(tests.view, { of: (context: object) => tests.of(context) });
}

function parentOf(test: Test, tests: TestNamespaces): object | undefined {
  const { parent } = test as { readonly parent?: object };
  return parent && tests.has(parent) ? parent : undefined;
}
