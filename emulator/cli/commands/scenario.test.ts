import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startEmulator } from '../../index.js';
import { ended, spawnCli, untilReady } from '../../test/cli-process.js';
import { main } from '../main.js';

async function run(argv: readonly string[], command = 'scenario') {
  const said = { code: -1, out: '', err: '' };
  said.code = await main([command, ...argv], {
    print: (text) => {
      said.out += text;
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      said.err += text;
    },
    input: async () => '',
    isInteractive: false,
    columns: 100,
    environment: {},
    now: () => 0,
  });
  return said;
}

t.test('shipped scenarios are listed, shown and checked', async (t) => {
  t.match(await run(['ls']), {
    code: 0,
    out: /^ID +ABOUT\nauth-outage .*\n(.*\n)*thaw-then-ok +Every repository is in cold/,
  });
  const shipped = JSON.parse((await run(['ls', '--json'])).out);
  t.equal(shipped.length, 10);
  for (const { id, file } of shipped) {
    t.match(await run(['check', file]), { code: 0, out: `${file}: the scenario ${id} is valid.\n` });
    t.equal((await run(['show', id])).out, readFileSync(file, 'utf8'));
    t.match(JSON.parse((await run(['show', id, '--json'])).out), { id });
  }
});

t.test('an invalid scenario is one sentence and exit code 2', async (t) => {
  const file = join(t.testdir(), 's.yaml');
  for (const [argv, text, sentence] of [
    [
      ['check', file],
      'id: s\nsteps: [{ on: { op: nothing }, release: x }]\n',
      /^\S+s\.yaml: steps\.0\.on\.op: .*"nothing".*\.\n$/,
    ],
    [['check', file], 'id: s\nid: s\n', /^\S+s\.yaml: .*unique.*\.\n$/],
    [['check', file], '{"id": "s", "colour": 1}', /^\S+s\.yaml: .*"colour".*\.\n$/],
    [['check', file], '', /^\S+s\.yaml: The scenario.*\.\n$/],
    [['check', file], 'id: !unknown s\ncolour: 1\n', /^\S+s\.yaml: .*"colour".*\.\n$/],
    [['check', file], '['.repeat(100_000), /^\S+s\.yaml: The document is nested deeper than 64 levels.*\.\n$/],
    [['check', '/dev/zero'], '', /^\/dev\/zero cannot be read: it is larger than 1 MiB\.\n$/],
    [['show', '/dev/zero'], '', /cannot be read: it is larger/],
    [['from-har', '/dev/zero'], '', /cannot be read: it is larger/],
    [['check', `${file}.none`], '', /cannot be read: no such file or directory\.\n$/],
    [['check'], '', /needs the name of a file/],
    [['ls', 'x'], '', /takes no further argument/],
    [['play'], '', /Its actions are check, ls, show, start, from-har/],
    [
      ['show', 'nothing'],
      '',
      /"nothing" is neither a file nor a shipped scenario\. The shipped scenarios are auth-outage,/,
    ],
    [['from-har', file], 'x', /is not an HTTP Archive/],
    [['from-har', file], '{"log": {"entries": [{"request": {}}]}}', /log\.entries\.0\.request\.method/],
    [['from-har', file], '{"log": {"entries": []}}', /no request to a route of the service/],
  ] as const) {
    writeFileSync(file, text);
    const { code, out, err } = await run(argv);
    t.same([code, out], [2, ''], argv.join(' '));
    t.match(err, sentence);
  }
  t.match(await run(['start', 'auth-outage', '--url', 'http://127.0.0.1:1']), { code: 3 });
});

t.test('a scenario is started in an emulator that runs', async (t) => {
  await using emulator = await startEmulator({ port: 0 });
  const at = ['--url', emulator.baseUrl];
  t.match(await run(['start', 'auth-outage', ...at]), { code: 0, out: 'auth-outage\n' });
  t.match(await run(['start', 'auth-outage', ...at]), { code: 2, err: /has already been started/ });
  t.equal(emulator.state.read().organizations.demo!.authentication, 'unavailable');
  const file = join(t.testdir(), 's.json');
  writeFileSync(
    file,
    '{"id": "own", "clock": {"mode": "frozen"}, "faults": ["conflict*2;retry-after=3"], "steps": [{"on": "push to main", "release": "x"}]}',
  );
  t.match(JSON.parse((await run(['start', file, '--json', ...at])).out), {
    id: 'own',
    started: true,
    faults: ['own.1'],
  });
  t.equal(emulator.clock.mode, 'frozen');
});

t.test('verify checks the expectations of a scenario file and of running scenarios', async (t) => {
  await using emulator = await startEmulator({ port: 0 });
  const at = ['--url', emulator.baseUrl];
  const verify = (...argv: string[]) => run([...argv, ...at], 'verify');
  const file = join(t.testdir(), 's.yaml');
  writeFileSync(file, 'id: own\nexpect: { requests: [{ match: { path: /api/meta }, count: 1 }] }\n');
  t.match(await verify(), { code: 0, out: 'met\n' });
  t.match(await verify('--file', file), { code: 1, out: /^requests\.0: Expected .*, found 0/ });
  await (await fetch(`${emulator.baseUrl}/api/meta`)).arrayBuffer();
  t.match(await verify('--file', file), { code: 0, out: 'met\n' });
  t.match(await run(['start', file, ...at]), { code: 0 });
  t.match(await verify(), { code: 1, out: /^scenarios\.own\.requests\.0: Expected .*, found 0/ });
  t.match(JSON.parse((await verify('--json')).out), { met: false, unmet: [{ at: 'scenarios.own.requests.0' }] });
  writeFileSync(file, 'id: own\nexpect: { requests: [{ match: { color: red } }] }\n');
  t.match(await verify('--file', file), { code: 2, err: /s\.yaml: expect\.requests\.0\.match.*"color".*\.\n$/ });
  writeFileSync(file, 'expect: {}\n');
  t.match(await verify('--file', file), { code: 2, err: /s\.yaml: id: / });
  writeFileSync(file, 'id: own\n');
  t.match(
    await verify('--file', file),
    { code: 1, out: /scenarios\.own/ },
    'one without expectations expects nothing more',
  );
});

t.test('an error page of a proxy in recorded traffic is replayed unchanged', async (t) => {
  const folder = t.testdir();
  const page = `<html>\n<h1>502 Bad Gateway</h1>\n<p>${'upstream – '.repeat(50)}</p>\n</html>\n`;
  const entry = {
    request: { method: 'GET', url: 'https://api.acme.example/api/v1/repo', headers: [] },
    response: {
      status: 502,
      headers: [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }],
      content: { mimeType: 'text/html', text: page },
    },
  };
  const [har, file] = [join(folder, 'incident.har'), join(folder, 'incident.yaml')];
  writeFileSync(har, JSON.stringify({ log: { entries: [entry] } }));
  const { code, out } = await run(['from-har', har]);
  t.equal(code, 0);
  writeFileSync(file, out);
  await using emulator = await startEmulator({ port: 0, scenario: file });
  const headers = {
    authorization: `Bearer ${await emulator.token({ repo: 'a', scopes: ['repo:write', 'git:read'] })}`,
  };
  await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers });
  const response = await fetch(`${emulator.baseUrl}/api/v1/repo`, { headers });
  t.same([response.status, response.headers.get('content-type')], [502, 'text/html; charset=utf-8']);
  t.equal(await response.text(), page);
});

t.test('start applies a scenario, and fails if it is invalid', async (t) => {
  const file = join(t.testdir(), 's.yaml');
  writeFileSync(file, 'id: own\nclock: 2026-03-01T00:00:00Z\nfaults: [bad_gateway]\n');
  const child = spawnCli(t, ['start', '--port', '0', '--log', 'quiet', '--scenario', file]);
  const { base_url } = await untilReady(child);
  const read = async (path: string) => (await fetch(`${base_url}/_emulator/${path}`)).json();
  t.match(await read('scenarios'), { items: [{ id: 'own', started: true, faults: ['own.1'] }] });
  t.match(await read('clock'), { now: /^2026-03-01/ });
  child.kill();
  await ended(child);
  writeFileSync(file, 'id: own\nfaults: [nonsense]\n');
  const refused = spawnCli(t, ['start', '--port', '0', '--scenario', file]);
  t.same((await ended(refused))[0], 2);
  t.match(refused.said.err, /^--scenario cannot be used: \S+s\.yaml: faults\.0: unknown fault nonsense[^\n]*\.\n$/);
});
