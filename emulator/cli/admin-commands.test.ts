import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { startEmulator } from '../index.js';
import { run, startAsked as setUp } from './test/run.js';

/** Example command line of each command that sends requests to a running emulator. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['reset'],
  ['clock'],
  ['clock', 'advance', '30s'],
  ['snapshot', 'add'],
  ['snapshot', 'ls'],
  ['snapshot', 'restore', 'snapshot-1'],
  ['snapshot', 'rm', 'snapshot-1'],
  ['requests'],
  ['requests', '--follow'],
  ['state'],
  ['state', 'set', '{}'],
  ['repo', 'ls'],
  ['fault', 'add', 'bad_gateway'],
  ['fault', 'ls'],
  ['fault', 'show', 'fault-1'],
  ['fault', 'disable', 'fault-1'],
  ['fault', 'enable', 'fault-1'],
  ['fault', 'rm', 'fault-1'],
  ['latch', 'release', 'door'],
  ['quota'],
  ['quota', 'set', 'q', '{"capacity":20,"refill":"10/s"}'],
  ['quota', 'rm', 'q'],
  ['namespace', 'add'],
  ['namespace', 'ls'],
  ['namespace', 'rm', 'ns-1'],
  ['verify'],
  ['stop'],
];

t.test('without an emulator, every command prints a sentence and exits with 3', async (t) => {
  const server = createServer((_request, response) => void response.end('<html>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const argv of COMMANDS) {
    const { code, out, err } = await run([...argv, '--url', url]);
    t.same([code, out], [3, ''], argv.join(' '));
    t.match(err, /^No emulator at http:\/\/127\.0\.0\.1:\d+: the server is not an emulator \(it answered 200\)\.\n$/);
  }
  await new Promise((resolve) => server.close(resolve));
  for (const argv of COMMANDS) {
    const { code, out, err } = await run(argv, { EMULATOR_URL: url });
    t.same([code, out], [3, ''], argv.join(' '));
    t.match(err, /^No emulator at http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED[^\n]*\.\n$/);
  }
  t.match(await run(['health'], { EMULATOR_URL: url }), { code: 3, err: /ECONNREFUSED/ });
  t.match(await run(['status'], { EMULATOR_URL: 'here' }), {
    code: 2,
    err: /^EMULATOR_URL must be an http or https address/,
  });
});

t.test('without the admin token every command is refused, and the token is not printed', async (t) => {
  const { emulator } = await setUp(t, { adminToken: 'canary-token' });
  for (const argv of COMMANDS.filter(([name]) => name !== 'stop')) {
    const refused = await run([...argv, '--url', emulator.baseUrl, '--admin-token', 'canary-wrong']);
    t.same([refused.code, refused.out], [2, ''], argv.join(' '));
    t.match(refused.err, /^The admin routes require the admin token[^\n]+EMULATOR_ADMIN_TOKEN\.\n$/);
    t.notMatch(refused.err, /canary/);
  }
  t.equal((await run(['status', '--url', emulator.baseUrl, '--admin-token', 'canary-token'])).code, 0);
  const environment = { EMULATOR_URL: emulator.baseUrl, EMULATOR_ADMIN_TOKEN: 'canary-token' };
  t.match(await run(['status'], environment), { code: 0, err: '' });
});

t.test('a refusal of the emulator and an invalid argument are one sentence and exit code 2', async (t) => {
  const { ask } = await setUp(t);
  for (const [argv, sentence] of [
    [['clock', 'stop'], /^clock has no action "stop"\. Its actions are show, freeze, advance, tick, real, set\./],
    [['clock', 'advance'], /^clock advance needs a duration/],
    [['clock', 'freeze', 'now'], /^clock freeze takes no further argument, but got "now"/],
    [['clock', 'advance', 'soon'], /^advance: must be an ISO 8601 duration/],
    [['clock', 'set', 'soon'], /^now: must be an ISO 8601 time/],
    [['snapshot'], /^snapshot requires an action\. Its actions are add, ls, restore, rm\./],
    [['snapshot', 'restore'], /^snapshot restore needs the id/],
    [['snapshot', 'restore', 'a/b'], /^The snapshot "a\/b" does not exist/],
    [['snapshot', 'rm', 'none'], /^The snapshot "none" does not exist/],
    [['snapshot', 'ls', 'x'], /^snapshot ls takes no further argument/],
    [['state', 'set'], /^state set requires changes/],
    [['state', 'set', '[]'], /^state set takes a JSON object/],
    [['state', 'set', '{"color":1}'], /"color"/],
    [['state', 'set', '--repo', 'none=archived'], /"none"/],
    [['state', 'set', '--repo', 'none'], /^--repo must be NAME=STATE/],
    [['state', 'set', '--org', 'demo=x'], /^--org must be NAME\.SWITCH=VALUE/],
    [['state', 'show', '{}'], /^state show takes no further argument/],
    [['repo', 'move'], /^repo has no action "move"\. Its actions are add, ls, push, rm\./],
    [['repo', 'add'], /^repo add needs the name of a repository/],
    [['repo', 'ls', 'x'], /^repo ls takes no further argument/],
    [['repo', 'push', '/none/x'], /^\/none\/x cannot be read \(no such file or directory\)/],
    [['repo', 'rm', 'a', '--default-branch=x'], /^--default-branch is allowed only with repo add/],
    [['export'], /^export needs a folder/],
    [['import'], /^import needs a path or a URL/],
    [['import', '/none/x'], /^\/none\/x cannot be read/],
    [['status', 'x'], /Unknown argument: x/],
  ] as const) {
    const { code, out, err } = await ask.text(...argv);
    t.same([code, out], [2, ''], argv.join(' '));
    t.match(err, sentence);
    t.match(err, /^[^\n]+[.?]\n$/, 'one sentence');
  }
});

t.test('each command has its documented effect', async (t) => {
  const { emulator, ask } = await setUp(t);
  t.match(await ask.text('clock'), { code: 0, out: '2026-01-01T00:00:00.000Z (tick)\n', err: '' });
  t.match(await ask.json('clock', 'advance', 'PT1H'), { json: { mode: 'tick', now: '2026-01-01T01:00:00.000Z' } });
  t.equal(emulator.clock.now(), Date.parse('2026-01-01T01:00:00Z'));
  t.match(await ask.text('clock', 'set', '2026-02-01'), { out: /^2026-02-01T/ });
  const changed = await ask.json('state', 'set', '--org', 'demo.hosting=off', '--org', 'demo.forgeApps=2');
  t.match(changed, { code: 0, json: { organizations: { demo: { hosting: 'off', forgeApps: 2 } } } });
  t.match(emulator.state.read().organizations.demo, { hosting: 'off', forgeApps: 2 });
  t.match(await ask.text('state'), { out: /^organization demo: .*hosting="off"/ });
  const { out: id } = await ask.text('snapshot', 'add');
  t.match(id, /^snapshot-\d+\n$/);
  t.match(await ask.text('snapshot', 'ls'), { out: new RegExp(`^ID +TAKEN AT.*\\n${id.trim()} +2026-02-01T`) });
  t.match(await ask.json('reset'), { code: 0, json: { status: 'reset' } });
  t.match(emulator.state.read().organizations.demo, { hosting: 'on' });
  t.match(await ask.json('snapshot', 'restore', id.trim()), { code: 0, json: { id: id.trim() } });
  t.match(emulator.state.read().organizations.demo, { hosting: 'off' });
  t.match(await ask.text('snapshot', 'rm', id.trim()), { code: 0, out: '' });
  t.same((await ask.json('snapshot', 'ls')).json, []);
  const { token } = (await (
    await fetch(`${emulator.adminUrl}/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ repo: 'team/app', scopes: ['repo:write'] }),
    })
  ).json()) as { token: string };
  await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  t.match(await ask.text('repo', 'ls'), { out: /^NAME +STATE[^\n]*\nteam\/app +active +main +0 +0 / });
  t.match(await ask.json('repo', 'ls'), { json: [{ name: 'team/app' }] });
  t.match(await ask.text('requests'), { out: /^00:00:00 201 POST \/api\/repos repo=team\/app\n$/ });
  t.match(await ask.json('requests'), { json: [{ path: '/api/repos', status: 201 }] });
  const status = { url: emulator.baseUrl, repositories: 1, snapshots: 0, clock: { mode: 'tick' } };
  t.match(await ask.json('status'), { code: 0, json: status });
  t.match(await ask.text('status'), { out: /1 repositories, 0 snapshots\n$/ });
});

t.test('a list of requests has the number of requests that the journal dropped', async (t) => {
  await using emulator = await startEmulator({ port: 0, limits: { maxJournal: 2 } });
  const list = (...flags: string[]) => run(['requests', '--url', emulator.baseUrl, ...flags]);
  const ask = async () => (await fetch(`${emulator.baseUrl}/api/repos`)).arrayBuffer();
  await ask();
  t.match(await list(), { code: 0, err: '' });
  for (let at = 0; at < 4; at++) await ask();
  const sentence = 'The journal no longer contains the first 3 requests (--max-journal, --max-journal-bytes).\n';
  t.match(await list(), { code: 0, out: /^.*\n.*\n$/, err: sentence });
  const { out, err } = await list('--json');
  t.match([JSON.parse(out).length, err], [2, sentence]);
});

t.test('requests are filtered by client and failure', async (t) => {
  await using emulator = await startEmulator({ port: 0 });
  for (const userAgent of ['git/2.39.5', 'node']) {
    await (await fetch(`${emulator.baseUrl}/nothing`, { headers: { 'user-agent': userAgent } })).arrayBuffer();
  }
  const authorization = `Bearer ${await emulator.token({ repo: 'app', scopes: ['repo:write'] })}`;
  await (await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers: { authorization } })).arrayBuffer();
  const paths = async (...flags: string[]) => {
    const { out } = await run(['requests', '--json', '--url', emulator.baseUrl, ...flags]);
    return (JSON.parse(out) as { path: string }[]).map(({ path }) => path);
  };
  t.same(await paths('--failed'), ['/nothing', '/nothing']);
  t.same(await paths('--user-agent', 'git/*'), ['/nothing']);
  t.same(await paths('--user-agent', 'git/2'), []);
});

t.test('requests are followed until the emulator ends', async (t) => {
  const { emulator, ask } = await setUp(t);
  await fetch(`${emulator.baseUrl}/first`);
  let printed = 0;
  const following = run(['requests', '--follow', '--json', '--url', emulator.baseUrl], {}, () => {
    printed++;
    if (printed === 1) void fetch(`${emulator.baseUrl}/second`);
    if (printed === 2) void ask.text('stop');
  });
  const { code, out } = await following;
  t.equal(code, 0);
  const lines = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.match(lines, [{ path: '/first' }, { path: '/second' }]);
});

t.test('stop ends the process of an emulator, which removes its temporary files', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'ready.json');
  const started = run(['start', '--port', '0', '--host', '0.0.0.0', '--log', 'quiet', '--ready-file', file]);
  t.match(await run(['wait', '--ready-file', file]), { code: 0 });
  const { base_url, admin_token_file } = JSON.parse(readFileSync(file, 'utf8'));
  const token = readFileSync(admin_token_file, 'utf8').trim();
  t.match(await run(['stop', '--url', base_url]), { code: 2, err: /--admin-token/ });
  t.match(await run(['stop', '--url', base_url, '--admin-token', token]), { code: 0, out: /has stopped/ });
  const { code, out, err } = await started;
  t.equal(code, 0);
  t.notOk(out.includes(token) || err.includes(token), 'the token is told nowhere');
  t.throws(() => statSync(file), { code: 'ENOENT' });
  t.throws(() => statSync(admin_token_file), { code: 'ENOENT' });
});

t.test('health, wait and token print JSON with --json', async (t) => {
  const { emulator, ask } = await setUp(t);
  const url = `${emulator.baseUrl}/`;
  for (const command of ['health', 'wait']) {
    t.same(await ask.json(command), { code: 0, err: '', json: { url, ready: true, reason: null } }, command);
  }
  const { json } = await ask.json('token', '--repo', 'a');
  t.same(Object.keys(json), ['token']);
  t.match(json.token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  await emulator.close({ graceMs: 0 });
  for (const argv of [['health'], ['wait', '--timeout', '50ms']]) {
    const answered = await ask.json(...argv);
    t.match(answered, { code: 3, json: { url, ready: false, reason: /ECONNREFUSED/ } }, argv[0]!);
  }
});
