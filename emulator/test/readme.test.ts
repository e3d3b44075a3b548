import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { operations } from '../api/index.js';
import { writeRouteTable } from '../api/route-table.js';
import { startEmulator } from '../index.js';

// The tests run compiled, from dist/emulator/test.
const root = fileURLToPath(new URL('../../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

t.test('the table of operations is the one the router serves', async (t) => {
  const shown = /<!-- routes:[^\n]*-->\n([\s\S]*?)<!-- \/routes -->/.exec(readme)?.[1];
  t.equal(shown?.trim(), writeRouteTable(operations).trim(), 'npx emulator routes --markdown prints it');
});

/** The one block of shell commands that has `words`. */
function block(test: Test, words: string): string {
  const found = [...readme.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, text]) => text!);
  const fitting = found.filter((text) => text.includes(words));
  test.equal(fitting.length, 1, `one block has ${words}`);
  return fitting[0]!;
}

/** A folder that holds a project with a commit, a home of its own, and what `npm link` puts on a machine. */
async function createProject(test: Test) {
  const folder = test.testdir({ home: {}, bin: {}, project: { 'a.txt': 'a\n' }, tmp: {} });
  const npx = join(folder, 'bin', 'npx');
  writeFileSync(npx, `#!/bin/sh\nname=$1\nshift\nexec '${process.execPath}' '${root}bin/'$name.js "$@"\n`);
  chmodSync(npx, 0o755);
  mkdirSync(join(folder, 'home', '.config'));
  const run = async (script: string) => {
    const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script.replaceAll('/tmp/', `${folder}/tmp/`)], {
      cwd: join(folder, 'project'),
      env: {
        HOME: join(folder, 'home'),
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_TERMINAL_PROMPT: '0',
        NO_PROXY: '*',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    test.teardown(() => child.kill('SIGKILL'));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        said += part;
      });
    }
    const [code] = await once(child, 'close');
    return { code, said };
  };
  const identity = 'git config --global user.name A && git config --global user.email a@x';
  test.match(await run(`${identity} && git init -q -b main && git add . && git commit -qm First`), { code: 0 });
  return { folder, run };
}

async function startedOn(test: Test): Promise<(script: string) => string> {
  const emulator = await startEmulator({ port: 0 });
  test.teardown(() => emulator.close({ graceMs: 0 }));
  return (script) => script.replaceAll('127.0.0.1:8080', emulator.gitHost);
}

t.test('the first five minutes work in the folder of a project', async (t) => {
  const { run, folder } = await createProject(t);
  const onIts = await startedOn(t);
  const first = block(t, 'git clone http://t:$TOKEN');
  const { code, said } = await run(
    onIts(first + block(t, 'commit-pack --data-binary') + block(t, 'thawing;retry-after')),
  );
  t.match(said, /"commit_sha"/, 'the API writes');
  t.match(said, /"title":"Repository Thawing"/);
  t.match(said, /Too many requests/);
  t.not(code, 0, 'the last line meets its error');
  t.equal(readFileSync(join(folder, 'tmp', 'app', 'hello.txt'), 'utf8'), 'hello\n');
  t.ok(existsSync(join(folder, 'tmp', 'app', 'a.txt')));
});

t.test('a script finds an emulator that starts, and ends when it does not', async (t) => {
  const { run, folder } = await createProject(t);
  const script = block(t, 'ready.json').replace('# ... tests ...', 'curl -s "$BASE_URL/_emulator/health"');
  const { code, said } = await run(script);
  t.equal(code, 0, said);
  t.match(said, '"emulator":true');
  t.notOk(existsSync(join(folder, 'project', 'ready.json')));
  // Without an end of its own it would wait for 30 seconds and more.
  const broken = await run(script.replace('--port 0', '--port x').replace('wait --', 'wait --timeout 24h --'));
  t.match(broken, {
    code: 3,
    said: /^--port has to be .*\n(.*\n)*No emulator by "ready\.json": process \d+ has ended\.\n$/,
  });
});

t.test('remotes that are written with https reach the emulator, with a user and without', async (t) => {
  const { run } = await createProject(t);
  const onIts = await startedOn(t);
  const set = onIts(block(t, 'insteadOf'));
  const create = block(t, 'git clone http://t:$TOKEN').split('\n').slice(0, 2).join('\n');
  t.match(await run(onIts(`${create}\n${set}`)), { code: 0 });
  const token = 'TOKEN=$(npx emulator token --repo team/app)';
  const withUser = await run(onIts(`${token}\ngit push -q https://t:$TOKEN@127.0.0.1:8080/team/app.git HEAD:main`));
  t.equal(withUser.code, 0, withUser.said);
  const header = '-c http.extraHeader="Authorization: Bearer $TOKEN"';
  const without = await run(onIts(`${token}\ngit ${header} ls-remote https://127.0.0.1:8080/team/app.git`));
  t.match(without, { code: 0, said: 'refs/heads/main' });
});

t.test('the tokens and the signed commit work as they stand', async (t) => {
  const { run } = await createProject(t);
  const tokens = await run(block(t, '--key restricted'));
  t.equal(tokens.code, 0, tokens.said);
  t.equal(tokens.said.trim().split('\n').length, 5);
  const signed = await run(block(t, 'gpg.format=ssh'));
  t.equal(signed.code, 0, signed.said);
  t.match(await run('git cat-file commit HEAD'), { code: 0, said: 'BEGIN SSH SIGNATURE' });
});
