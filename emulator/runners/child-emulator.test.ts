import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { startChild } from './child-emulator.js';
import { type ProcessOptions, TestNamespaces } from './test-namespaces.js';

function testsOf(t: Test, options: Partial<ProcessOptions> = {}): TestNamespaces {
  const tests = new TestNamespaces({ process: true, ...options }, 'say which');
  t.teardown(() => tests.close());
  return tests;
}

const FINE = { isFailed: false };

async function isServed(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

t.test('a synchronous child process clones from an emulator in another process', async (t) => {
  const tests = testsOf(t, { org: ['acme'], seed: 'x' });
  const test = {};
  await tests.begin(test);
  const { view } = tests;
  await view.repository('team/app').seed({ 'README.md': 'hello' });
  const folder = join(t.testdir({}), 'clone');
  const env = { ...process.env, ...(await view.env()), GIT_TERMINAL_PROMPT: '0' };
  execFileSync('git', ['clone', '-q', await view.remote('team/app'), folder], { env, timeout: 60_000 });
  t.equal(readFileSync(join(folder, 'README.md'), 'utf8'), 'hello');
  t.equal(view.org, 'acme');
  t.ok((await view.requests({ operation: 'gitUploadPack' })).length > 0);
  t.same(await tests.end(test, FINE), { broken: [], requests: [] });
});

t.test('tests are isolated and checked as in this process', async (t) => {
  const tests = testsOf(t, { client: true });
  const { view } = tests;
  const [first, second, third] = [{}, {}, {}];
  await tests.begin(first);
  await view.fault('lost*1');
  await view.repository('team/app').seed({ a: 'a' });
  const { baseUrl } = view;
  t.match((await tests.end(first, FINE)).broken, [/^The fault lost\*1 \(fault-1\) fired 0 times/]);
  await tests.begin(second);
  t.notOk(await isServed(baseUrl), 'the namespace of the first test is closed');
  t.same((await view.state.read()).repositories, {});
  const fault = await view.fault('service_unavailable*1@headers');
  t.equal((await fetch(`${view.baseUrl}/api/repos`)).status, 503);
  t.equal(await fault.fired, 1);
  t.same((await tests.end(second, FINE)).broken, []);
  await tests.begin(third);
  for (const _ of [1, 2]) await fetch(`${view.baseUrl}/api/repos`);
  const { broken, requests } = await tests.end(third, FINE);
  t.match(broken[0], /^The client breaks the rule hopeless-retry/);
  t.equal(requests.length, 3);
  t.ok(tests.of(third).baseUrl, view.baseUrl);
  const last = view.baseUrl;
  await tests.close();
  t.notOk(await isServed(last));
});

t.test('an emulator in another process that cannot start is reported', async (t) => {
  t.throws(() => testsOf(t, { seed: '' }), { message: /^seed must be/ });
  t.throws(() => testsOf(t, { process: 1 as unknown as true }), {
    message: 'process must be true (another process) or false, not 1.',
  });
  const tests = testsOf(t, { host: '192.0.2.1' });
  await t.rejects(tests.begin({}), { message: /EADDRNOTAVAIL/ });
  await t.resolves(tests.close());
});

t.test('the emulator has the admin token that it generates off loopback', async (t) => {
  const { emulator, close } = await startChild({ port: 0, host: '0.0.0.0', testKeys: true });
  t.teardown(close);
  t.same((await emulator.state.read()).repositories, {});
  t.equal((await fetch(`${emulator.adminUrl}/state`)).status, 401);
});

t.test('the emulator ends if its parent is killed', async (t) => {
  const module = fileURLToPath(new URL('./child-emulator.js', import.meta.url));
  const script = `
    const { startChild } = await import(${JSON.stringify(module)});
    const { emulator } = await startChild({ port: 0 });
    console.log(emulator.baseUrl);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout.setEncoding('utf8'), 'data')) as [string];
  const url = line.trim();
  t.ok(await isServed(url));
  parent.kill('SIGKILL');
  while (await isServed(url)) await new Promise((resolve) => setTimeout(resolve, 10));
  t.pass('the port is closed');
});

t.test('a program that does not close the emulator can end', async (t) => {
  const module = fileURLToPath(new URL('./child-emulator.js', import.meta.url));
  const script = `await (await import(${JSON.stringify(module)})).startChild({ port: 0 });`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  t.teardown(() => parent.kill('SIGKILL'));
  t.same(await once(parent, 'exit'), [0, null]);
});
