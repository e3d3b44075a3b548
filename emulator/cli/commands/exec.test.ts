import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import t, { type Test } from 'tap';
import { VARIABLES } from '../../admin/exec-variables.js';
import { optionRows } from '../../config/options.js';
import { EMULATOR, ended, spawnCli } from '../../test/cli-process.js';

/** Runs `emulator exec` with a command and waits for the end. Returns exit code, signal and output. */
async function exec(t: Test, flags: readonly string[], ...command: readonly string[]) {
  const child = spawnCli(t, ['exec', '--log', 'quiet', ...flags, '--', ...command]);
  const [code, signal] = await ended(child);
  return { code, signal, ...child.said };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/_emulator/health`).then(
    () => true,
    () => false,
  );
}

const printVariables = 'process.stdout.write(JSON.stringify(process.env))';

t.test('the command gets the variables and can reach the emulator', async (t) => {
  const script = `
    (async () => {
      const headers = { authorization: 'Bearer ' + process.env.EMULATOR_TOKEN };
      const of = async (method, path) => (await fetch(process.env.EMULATOR_URL + path, { method, headers })).status;
      const status = [await of('POST', '/api/repos'), await of('GET', '/api/repos'), await of('GET', '/api/meta'),
        (await fetch(process.env.EMULATOR_ADMIN_URL + '/version')).status];
      process.stdout.write(JSON.stringify({ status, env: process.env }));
    })()`;
  const { code, out, err } = await exec(t, ['--org', 'acme', '--org', 'other'], process.execPath, '-e', script);
  t.same([code, err], [0, '']);
  const { status, env } = JSON.parse(out);
  t.same(status, [201, 200, 200, 200]);
  t.match(env, { EMULATOR_ORG_NAME: 'acme', EMULATOR_URL: /^http:\/\/127\.0\.0\.1:\d+$/, HOME: process.env.HOME });
  t.equal(env.EMULATOR_GIT_URL, env.EMULATOR_URL);
  t.equal(env.EMULATOR_ADMIN_URL, `${env.EMULATOR_URL}/_emulator`);
  t.match(readFileSync(env.EMULATOR_KEY_FILE, 'utf8'), /BEGIN PRIVATE KEY/);
  t.match(decodeJwt(env.EMULATOR_TOKEN), { iss: 'acme', repo: 'team/app' });
  t.notOk(await answers(env.EMULATOR_URL), 'nothing is left of it');
});

t.test('the token covers the requested repository and scopes if a key permits them', async (t) => {
  const folder = t.testdir({});
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const files = { own: join(folder, 'own.pem'), public: join(folder, 'public.pem') };
  writeFileSync(files.own, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(files.public, publicKey.export({ type: 'spki', format: 'pem' }));
  const token = async (...flags: string[]) => {
    const { code, out, err } = await exec(t, flags, process.execPath, '-e', printVariables);
    t.equal(code, 0);
    return { err, token: JSON.parse(out).EMULATOR_TOKEN as string };
  };
  const named = await token('--repo', "o'brien/x", '--scopes', 'git:read,org:read');
  t.match(decodeJwt(named.token), { repo: "o'brien/x", scopes: ['git:read', 'org:read'] });
  const own = await token('--no-test-keys', '--key', `${files.own};allowed_scopes=git:read+deployment:read`);
  const { scopes, iat, exp } = decodeJwt(own.token);
  t.same([scopes, exp! - iat!, own.err], [['git:read'], 3600, '']);
  const frozen = await token('--clock', '2030-01-01T00:00:00Z');
  t.equal(decodeJwt(frozen.token).iat, Date.parse('2030-01-01T00:00:00Z') / 1000);
  for (const flags of [['--no-test-keys'], ['--no-test-keys', '--key', files.public]]) {
    const none = await token(...flags);
    t.equal(none.token, '', 'also where one was inherited');
    t.match(none.err, /^EMULATOR_TOKEN is empty: [^\n]+\.\n$/);
  }
});

t.test('no exported variable sets an option of an emulator that the command starts', async (t) => {
  const variables = optionRows().map(({ variable }) => variable);
  t.same(
    VARIABLES.map(({ name }) => name),
    [
      'EMULATOR_URL',
      'EMULATOR_GIT_URL',
      'EMULATOR_ORG_NAME',
      'EMULATOR_KEY_FILE',
      'EMULATOR_TOKEN',
      'EMULATOR_ADMIN_URL',
    ],
  );
  t.notOk(VARIABLES.some(({ name }) => variables.includes(name)));
  const outer = ['--org', 'outer', '--clock', '2030-01-01T00:00:00Z', '--no-test-keys'];
  const inner = `${EMULATOR} exec --log quiet -- ${EMULATOR} status; ${EMULATOR} status`;
  const { code, out } = await exec(t, outer, 'sh', '-c', inner);
  t.equal(code, 0);
  const [first, second] = out.split(/(?=^repohost-emulator)/m);
  t.match(first, /clock: .* \(real\)\ndemo:/, 'the inner one is asked by what runs below it');
  t.match(second, /clock: 2030-.*\nouter:/);
});

t.test('the output is that of the command, without additions', async (t) => {
  const child = spawn('sh', ['-c', `printf 'a\\nb' | ${EMULATOR} exec --log quiet -- sh -c 'cat; echo err >&2'`]);
  let [out, err] = ['', ''];
  child.stdout.on('data', (part) => (out += part));
  child.stderr.on('data', (part) => (err += part));
  t.same(await ended(child), [0, null]);
  t.same([out, err], ['a\nb', 'err\n']);
  const logged = spawnCli(t, ['exec', '--', 'sh', '-c', 'exec 2>&-; curl -s "$EMULATOR_URL/api/repos" >/dev/null']);
  t.same(await ended(logged), [0, null]);
  t.equal(logged.said.out, '');
  t.match(logged.said.err, /GET \/api\/repos/, 'the log goes to standard error');
});

t.test('exit codes are those of the command', async (t) => {
  const folder = t.testdir({ 'not-executable': 'x' });
  const rows = [
    [['true'], 0, /^$/],
    [['sh', '-c', 'exit 7'], 7, /^$/],
    [['sh', '-c', 'exit 255'], 255, /^$/],
    [['sh', '-c', 'kill -9 $$'], 137, /^$/],
    [['sh', '-c', 'kill -TERM $$'], 143, /^$/],
    [['sh', '-c', 'kill -INT $$'], 130, /^$/],
    [['nonesuch-program', '--help'], 127, /^"nonesuch-program" cannot be run: no such program\.\n$/],
    [[join(folder, 'absent')], 127, /no such program\.\n$/],
    [[''], 127, /^"" cannot be run/],
    [[join(folder, 'not-executable')], 126, /cannot be run: [^\n]+ EACCES\.\n$/],
    [[folder], 126, /^"[^\n]+ cannot be run/],
    [[join(folder, 'not-executable', 'x')], 126, /ENOTDIR/],
    [['echo', '--help', '--', '--port', 'x'], 0, /^$/],
  ] as const;
  const ends = await Promise.all(rows.map(([command]) => exec(t, [], ...command)));
  for (const [at, [command, expected, complaint]] of rows.entries()) {
    const { code, signal, err } = ends[at]!;
    t.same([code, signal], [expected, null], command.join(' ').slice(0, 60));
    t.match(err, complaint);
  }
});

t.test('exec exits with 1 if the command succeeds but the scenario is not met', async (t) => {
  const folder = t.testdir({
    's.yaml': 'id: story\nexpect: { requests: [{ match: { path: /api/meta }, count: 1 }] }\n',
    'empty.yaml': 'id: empty\n',
  });
  const scenario = ['--scenario', join(folder, 's.yaml')];
  const ask = 'curl -s "$EMULATOR_URL/api/meta"';
  const rows = [
    [
      scenario,
      'true',
      1,
      /^scenarios\.story\.requests\.0: Expected 1 matching request, found 0\.(?:.|\n)*"path":"\/api\/meta"(?:.|\n)*\nnot met\n$/,
    ],
    [scenario, ask, 0, /^$/],
    [scenario, 'exit 7', 7, /^$/],
    [scenario, `${ask}; ${ask}`, 1, /found 2/],
    [scenario, `curl -s -X DELETE "$EMULATOR_ADMIN_URL/scenarios/story"`, 0, /^$/],
    [['--scenario', join(folder, 'empty.yaml')], 'true', 0, /^$/],
    [[], `${EMULATOR} scenario start ${scenario[1]} >/dev/null`, 0, /^$/],
    [[], `${EMULATOR} scenario start ${scenario[1]} >/dev/null; ${EMULATOR} verify >&2`, 1, /scenarios\.story/],
  ] as const;
  const ends = await Promise.all(rows.map(([flags, script]) => exec(t, flags, 'sh', '-c', script)));
  for (const [at, [, script, expected, complaint]] of rows.entries()) {
    t.equal(ends[at]!.code, expected, script);
    t.match(ends[at]!.err, complaint, script);
  }
});

t.test('exec --verify checks the rules for clients and running scenarios, and reports on standard error', async (t) => {
  const folder = t.testdir({
    's.yaml': 'id: story\nexpect: { requests: [{ match: { path: /api/meta }, count: 1 }] }\n',
  });
  const scenario = ['--scenario', join(folder, 's.yaml')];
  const ask = 'curl -s "$EMULATOR_URL/api/meta" >&-';
  const impolite = 'for i in 1 2; do curl -s "$EMULATOR_URL/api/repos" >&-; done';
  const met = /^rules for clients: \d+ kept, 0 broken, \d+ not applicable\nmet\n$/;
  const broken = /^broken rule for clients hopeless-retry \(must\): (?:.|\n)*\nrules for clients: .*\nnot met\n$/;
  const rows = [
    [[], 'true', 0, met],
    [[], `${ask}; true`, 0, met],
    [[], `${impolite}; true`, 1, broken],
    [[], `${impolite}; exit 7`, 7, broken],
    [scenario, `${ask}; true`, 0, met],
    [scenario, 'true', 1, /^scenarios\.story\.requests\.0: (?:.|\n)*\nrules for clients: (?:.|\n)*\nnot met\n$/],
    [scenario, 'exit 7', 7, /^scenarios\.story(?:.|\n)*\nnot met\n$/],
    [[], `${EMULATOR} scenario start ${scenario[1]} >&-`, 1, /^scenarios\.story(?:.|\n)*\nnot met\n$/],
  ] as const;
  const ends = await Promise.all(rows.map(([flags, script]) => exec(t, [...flags, '--verify'], 'sh', '-c', script)));
  for (const [at, [, script, expected, report]] of rows.entries()) {
    t.same([ends[at]!.code, ends[at]!.out], [expected, ''], script);
    t.match(ends[at]!.err, report, script);
  }
  const refused = await exec(t, ['--verify=yes'], 'true');
  t.match([refused.code, refused.err], [2, /^--verify takes no value\./]);
});

t.test('if the emulator does not start, exec exits with 2 without running the command', async (t) => {
  const busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => busy.close());
  const { port } = busy.address() as AddressInfo;
  const ran = join(t.testdir({}), 'ran');
  const rows = [
    [['--port', String(port), '--', 'touch', ran], /^Port \d+ is in use\. /],
    [['--host', '192.0.2.1', '--', 'touch', ran], /^This machine has no address/],
    [['--ready-file', '/dev/null', '--', 'touch', ran], /^The ready file cannot be written/],
    [['--repo', '', '--', 'touch', ran], /^--repo must be the name of a repository/],
    [['--repo', 'a', '--repo', 'b', '--', 'touch', ran], /^--repo was given more than once/],
    [['--scopes', 'a,a', '--', 'touch', ran], /^--scopes has the value "a" twice/],
    [['--repo', '--', 'touch', ran], /^--repo needs a value/],
    [['--nonsense', '--', 'touch', ran], /^exec has no flag --nonsense/],
    [['touch', ran], /^exec takes only flags, not the argument "touch"; put "--" before the command to run\./],
    [[], /^exec needs a command after --/],
    [['--'], /^exec needs a command after --/],
  ] as const;
  const children = rows.map(([argv]) => spawnCli(t, ['exec', ...argv]));
  const ends = await Promise.all(children.map(ended));
  for (const [at, [argv, sentence]] of rows.entries()) {
    const child = children[at]!;
    t.same(ends[at], [2, null], argv.join(' '));
    t.match(child.said.err, sentence);
    t.match(child.said.err, /^[^\n]+\.\n$/, 'one sentence');
    t.equal(child.said.out, '');
  }
  t.notOk(existsSync(ran));
});

t.test('the ready file exists while the command runs, and the command may stop the emulator', async (t) => {
  const folder = t.testdir({});
  mkdirSync(join(folder, 'x'));
  const file = join(folder, 'x', 'ready.json');
  const { code, out } = await exec(
    t,
    ['--ready-file', file],
    'sh',
    '-c',
    `cat '${file}'; ${EMULATOR} stop >&2; exit 5`,
  );
  t.equal(code, 5);
  t.match(JSON.parse(out), { event: 'ready' });
  t.notOk(existsSync(file));
});
