import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../config/options.js';
import { type Emulator, startEmulator } from '../index.js';

const run = promisify(execFile);

async function start(t: Test, options: GivenOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z', org: ['one', 'two'], ...options });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  return emulator;
}

/** Returns the claims of a token, without verifying it. */
function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
}

const git = async (...args: string[]): Promise<string> => {
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  return (await run('git', args, { env })).stdout;
};

t.test('git uses a remote with its scopes, its faults and its organization', async (t) => {
  const emulator = await start(t);
  await emulator.repository('team/app').seed({ a: 'a' });
  await emulator.repository('team/app', { org: 'two' }).seed({ a: 'a' }, { defaultBranch: 'trunk' });
  t.match(await git('ls-remote', await emulator.remote('team/app')), 'refs/heads/main');
  t.match(await git('ls-remote', await emulator.remote('team/app', { org: 'two' })), 'refs/heads/trunk');
  const faulty = await emulator.remote('team/app', { faults: ['service_unavailable*1'] });
  await t.rejects(git('ls-remote', faulty), /503/);
  t.match(await git('ls-remote', faulty), 'refs/heads/main');
  const reading = await emulator.remote('team/app', { scopes: ['git:read'], sub: 'reader' });
  t.match(claimsOf(new URL(reading).password), { scopes: ['git:read'], sub: 'reader', repo: 'team/app', iss: 'one' });
  t.match(await emulator.remote('a b/c+ephemeral'), /\/a%20b\/c%2Bephemeral\.git$/);
  await t.rejects(emulator.remote('team/app', { org: 'three' }), {
    message: /^The organization "three" does not exist/,
  });
  await t.rejects(emulator.remote(''), {
    message: 'The name of the repository must be a text such as "team/app", not "".',
  });
});

t.test('the environment is that of emulator exec', async (t) => {
  const emulator = await start(t);
  const variables = await emulator.env({ repo: 'team/tool', faults: ['latency;ms=1'] });
  const { EMULATOR_TOKEN: token, ...others } = variables;
  t.same(others, {
    EMULATOR_URL: emulator.baseUrl,
    EMULATOR_GIT_URL: emulator.gitUrl,
    EMULATOR_ORG_NAME: 'one',
    EMULATOR_KEY_FILE: emulator.keyFile,
    EMULATOR_ADMIN_URL: emulator.adminUrl,
  });
  const { repo, scopes, emu } = claimsOf(token!);
  t.same(
    [repo, scopes, emu],
    ['team/tool', ['repo:write', 'git:write', 'git:read', 'org:read'], { faults: ['latency;ms=1'] }],
  );
  const proxied = await start(t, { publicUrl: 'https://git.example.com', testKeys: false });
  const behind = await proxied.env();
  t.equal(behind.EMULATOR_URL, proxied.localUrl, 'the address of the emulator, not of the reverse proxy');
  t.equal(behind.EMULATOR_TOKEN, '', 'without a key there is no token');
});

t.test('an export moves the whole state to another emulator', async (t) => {
  const [one, other] = [await start(t), await start(t)];
  const { commit } = await one.repository('team/app').seed({ 'README.md': 'hello' });
  const state = await one.export();
  t.same(await other.import(state), { content: 'world', repositories: 1 });
  t.match(await git('ls-remote', await other.remote('team/app')), `${commit}\trefs/heads/main`);
  const file = join(t.testdir(), 'state.tar');
  writeFileSync(file, state);
  const third = await start(t);
  t.match(await third.import(file), { content: 'world', repositories: 1 });
  const folder = t.testdir({ 'a.txt': 'a' });
  const { content, repository } = await third.import(folder, { repo: 'team/files', org: 'two' });
  t.match([content, repository], ['repository', { name: 'team/files', organization: 'two', isNew: true }]);
  await t.rejects(third.import(state.subarray(0, 512 * 3)), { message: /^The archive / });
  await t.rejects(third.import(state, { repo: 'x' }), { message: /cannot be imported as one repository/ });
  t.equal(Object.keys(third.state.read().repositories).length, 1, 'a refused import changes nothing');
});

t.test('an export contains secrets only if they are wanted', async (t) => {
  const emulator = await start(t);
  const token = await emulator.token({ scopes: ['org:read', 'repo:write'], repo: 'team/app' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/', secret: 'a-hidden-secret', events: ['push'] });
  const { status } = await fetch(`${emulator.baseUrl}/api/v1/webhooks`, { method: 'POST', headers, body });
  t.equal(status, 201);
  const has = async (includeSecrets?: boolean) =>
    Buffer.from(await emulator.export({ includeSecrets })).includes('a-hidden-secret');
  t.same([await has(), await has(true)], [false, true]);
});

t.test('a scenario starts from an object, a file or a shipped one, and is removed', async (t) => {
  const emulator = await start(t);
  const expect = { requests: [{ match: { status: 503 }, count: 2 }] };
  const story = await emulator.scenario({
    id: 'outage',
    about: 'An outage.',
    faults: ['service_unavailable*2@headers'],
    expect,
  });
  t.match(story.read(), { id: 'outage', about: 'An outage.', isStarted: true, steps: 0, stepsDone: 0, problems: [] });
  t.equal(story.read().faults.length, 1);
  t.equal(emulator.verify().met, false);
  for (const _ of [1, 2]) t.equal((await fetch(`${emulator.baseUrl}/api/repos`)).status, 503);
  t.equal(emulator.verify().met, true);
  story.remove();
  story.remove();
  t.same(emulator.verify({ faults: { everyFired: true } }).unmet, []);
  t.equal(story.read().id, 'outage', 'the handle keeps the last values');
  const endless = await emulator.scenario({ id: 'endless', faults: ['service_unavailable@headers'] });
  endless.remove();
  t.equal((await fetch(`${emulator.baseUrl}/api/repos`)).status, 401, 'its faults are removed');
  const state = { organizations: { none: { authentication: 'unavailable' } } } as const;
  await t.rejects(emulator.scenario({ id: 'failing', state }), { message: /none/ });
  t.ok(await emulator.scenario({ id: 'failing' }), 'a scenario that cannot start is not registered');

  const file = join(t.testdir(), 's.yaml');
  writeFileSync(file, 'id: later\nclock: 2027-01-01T00:00:00Z\nsteps:\n  - after: 1h\n    release: door\n');
  const waiting = await emulator.scenario(file, { start: false });
  t.match([waiting.id, waiting.read().isStarted], ['later', false]);
  const started = await emulator.scenario('later');
  t.match(started.read(), { isStarted: true, steps: 1, stepsDone: 0, due: '2027-01-01T01:00:00.000Z' });
  await emulator.clock.advance('PT1H');
  t.equal(waiting.read().stepsDone, 1);
  await t.rejects(emulator.scenario('later'), { message: /already been started/ });
  await t.rejects(emulator.scenario('no-such'), { message: /^"no-such" is neither a file nor a shipped scenario\./ });
  const unknown = { id: 'x', nothing: 1 } as unknown as { id: string };
  await t.rejects(emulator.scenario(unknown), { message: /nothing/ });
  t.ok(await emulator.scenario('lost-commit'));
});

t.test('the outbox shows deliveries to webhooks without their secret', async (t) => {
  const emulator = await start(t);
  const scopes = ['org:read', 'repo:write', 'git:write', 'git:read'];
  const token = await emulator.token({ scopes, repo: 'team/app' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(emulator.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const hook = { url: 'http://127.0.0.1:9/hook', secret: 'a-hidden-secret', events: ['push'] };
  t.equal((await post('/api/v1/webhooks', hook)).status, 201);
  t.same(emulator.outbox(), []);
  await emulator.repository('team/app').seed({ a: 'a' });
  const branch = { base_branch: 'main', target_branch: 'dev' };
  t.ok((await post('/api/v1/repos/branches/create', branch)).ok);
  const [delivery] = emulator.outbox();
  t.match(delivery, { organization: 'one', event: 'push', url: hook.url, payload: { ref: String } });
  t.notMatch(JSON.stringify(emulator.outbox()), 'a-hidden-secret');
});
