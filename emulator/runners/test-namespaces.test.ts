import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startEmulator } from '../index.js';
import { requestLines } from './request-lines.js';
import { TestNamespaces, type WithEmulatorOptions } from './test-namespaces.js';

/**
 * Creates the namespaces (isolated services) that the tests of one file get. The tests of the file are simulated: any
 * object can represent one.
 */
function testsOf(t: Test, options: WithEmulatorOptions = {}): TestNamespaces {
  const tests = new TestNamespaces(options, 'say which');
  t.teardown(() => tests.close());
  return tests;
}

const FINE = { isFailed: false };

t.test('an invalid option is named in the error of withEmulator', (t) => {
  const begun = (options: object) => () => new TestNamespaces(options, '');
  t.throws(begun({ orgs: ['a'] }), /Unknown option "orgs"\./);
  t.throws(begun({ seed: '' }), /seed must be/);
  for (const client of ['retry-after', ['polite'], [], 1, null]) {
    t.throws(
      begun({ client }),
      /client must be true \(all rules for clients\), or a list of rules out of retry-after, /,
      JSON.stringify(client),
    );
  }
  t.doesNotThrow(begun({ client: false, port: 0 }));
  t.end();
});

t.test('the view of a namespace has all its members except those that close it', async (t) => {
  const emulator = await startEmulator({ port: 0 });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const tests = testsOf(t);
  await tests.begin({});
  const view = new Set(Reflect.ownKeys(tests.view));
  const missing = Reflect.ownKeys(await emulator.namespace()).filter((name) => !view.has(name));
  t.same(missing, ['close', Symbol.asyncDispose]);
  t.equal(view.has('close'), false);
});

t.test('outside a test there is no namespace', async (t) => {
  const tests = testsOf(t);
  t.throws(() => tests.view.baseUrl, /No test of this file is running/);
  t.throws(() => tests.of({}), /requires the context of a test of this file that is running/);
  t.same(await tests.end({}, FINE), { broken: [], requests: [] }, 'a test that did not begin reports nothing');
});

t.test('each test has a namespace, which is closed when the next one begins', async (t) => {
  const tests = testsOf(t);
  const [first, second] = [{}, {}];
  await tests.begin(first);
  const { baseUrl } = tests.view;
  await tests.end(first, FINE);
  t.equal(tests.view.baseUrl, baseUrl, 'later hooks can still use it');
  await tests.begin(second);
  t.not(tests.view.baseUrl, baseUrl);
  await t.rejects(fetch(baseUrl));
  t.throws(() => tests.of(first), /requires the context/);
  await tests.close();
  t.throws(() => tests.view.baseUrl, /No test of this file is running/);
});

t.test('a test fails if a fault does not fire as often as expected', async (t) => {
  const tests = testsOf(t);
  const brokenBy = async (plan: () => void, requests = 1): Promise<readonly string[]> => {
    const test = {};
    await tests.begin(test);
    plan();
    for (let at = 0; at < requests; at++) await (await fetch(`${tests.view.baseUrl}/api/repos`)).arrayBuffer();
    return (await tests.end(test, FINE)).broken;
  };
  const { view } = tests;
  t.same(await brokenBy(() => view.fault('latency*1@headers;ms=1')), []);
  t.match(await brokenBy(() => view.fault('latency*1;ms=1')), [
    /^The fault latency\*1;ms=1 \(fault-1\) fired 0 times, but should fire at least 1\.$/,
  ]);
  const twice = { at: 'headers', do: { latency: { ms: 1 } }, expect: { fired: 2 } } as const;
  t.match(await brokenBy(() => view.fault(twice)), [/fired once, but should fire 2\.$/]);
  t.same(await brokenBy(() => view.fault(twice), 2), []);
  t.same(await brokenBy(() => view.fault({ ...twice, expect: { fired: { min: 0 } } }), 0), []);
  t.match(await brokenBy(() => void view.fault(twice).remove(), 0), [/fired 0 times/]);
  const overHttp = async () => {
    const test = {};
    await tests.begin(test);
    const body = JSON.stringify({ spec: 'lost*1' });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${view.adminUrl}/faults`, { method: 'POST', headers, body });
    return (await tests.end(test, FINE)).broken;
  };
  t.match(await overHttp(), [/fired 0 times/], 'faults injected over HTTP must fire as well');
});

t.test('a test fails if an expectation of the scenario is unmet', async (t) => {
  const file = join(t.testdir(), 's.json');
  const scenarioOf = (expect: object) =>
    writeFileSync(file, JSON.stringify({ id: 'story', faults: ['lost*1', 'latency*1@headers;ms=1'], expect }));
  const brokenBy = async (requests: number): Promise<readonly string[]> => {
    const tests = testsOf(t, { scenario: file });
    const test = {};
    await tests.begin(test);
    for (let at = 0; at < requests; at++) await (await fetch(`${tests.view.baseUrl}/api/repos`)).arrayBuffer();
    return (await tests.end(test, FINE)).broken;
  };
  scenarioOf({ requests: [{ match: { status: 401 }, count: 1 }] });
  t.match(await brokenBy(0), [/^scenarios\.story\.requests\.0: Expected 1 matching request, found 0\.$/]);
  t.same(await brokenBy(1), [], 'faults without an expectation need not fire');
  t.match(await brokenBy(2), [/^scenarios\.story\.requests\.0: .*, found 2\.$/]);
  scenarioOf({ faults: { everyFired: true } });
  t.match(await brokenBy(1), [/^The fault .*lost.* fired 0 times/], 'faults with an expectation must fire');
});

t.test('a failed test shows its requests, with control characters escaped', async (t) => {
  const tests = testsOf(t, { clock: '2026-01-01T00:00:00Z' });
  const test = {};
  await tests.begin(test);
  await (await fetch(`${tests.view.baseUrl}/api/repos?a=\u202e`)).arrayBuffer();
  const { broken, requests } = await tests.end(test, { isFailed: true });
  t.same(broken, []);
  t.match(requests, [
    'Requests that the emulator received from this test:',
    /^ {2}00:00:00\.\d{3} req-00000001 GET \/api\/repos\?a=\S+ 401 unauthorized: /,
  ]);
  t.equal(
    requestLines(tests.view.requests(), 4)[0],
    'Requests that the emulator received from this test, without the first 4:',
  );
  const [request] = tests.view.requests();
  const steering = requestLines([{ ...request!, why: ['\u001b[2J\u202e\n'] }]);
  t.match(steering.join(), '\\u{1b}[2J\\u{202e}\\u{a}');
});

t.test('a test fails if the emulator cannot start', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const tests = testsOf(t, { port: (taken.address() as AddressInfo).port });
  await t.rejects(tests.begin({}), /EADDRINUSE/);
  await t.resolves(tests.close());
});
