import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { parse } from 'yaml';
import { startEmulator } from '../../index.js';
import { exampleFile, LANGUAGES } from '../languages/languages.js';
import { type Block, blocksOf, DOCUMENTS, ROOT, readDocument } from './documents.js';

// needs: git, curl

const README = 'README.md';
const INDEX = 'emulator/README.md';
/** Path prefix of documents about the emulator. Paths are relative to the checkout. */
const GUIDE = 'emulator/docs/';

t.setTimeout(240_000);

/** Code blocks of all documents except those of the conformance suite, which has its own test. */
const BLOCKS = DOCUMENTS.filter((name) => !name.startsWith('conformance/')).flatMap((name) =>
  blocksOf(name).map((block) => ({ name, block })),
);
const tried = new Set<Block>();

/**
 * Returns the only code block with `words` in a document. If `name` ends with "/", searches all documents of that
 * folder.
 */
function block(test: Test, name: string, words: string): string {
  const isIn = (one: string) => (name.endsWith('/') ? one.startsWith(name) : one === name);
  const fitting = BLOCKS.filter((one) => isIn(one.name) && one.block.text.includes(words));
  test.equal(fitting.length, 1, `one block of ${name} has ${words}`);
  for (const one of fitting) tried.add(one.block);
  return fitting[0]!.block.text;
}

/**
 * Creates a temporary folder with a project of one commit, a separate home folder, and the commands that `npm link`
 * would install.
 */
async function createProject(test: Test) {
  const scripts = {
    test: 'curl -sf "$EMULATOR_URL/_emulator/health" && git ls-remote "$EMULATOR_GIT_URL/x.git" || true',
  };
  const folder = test.testdir({
    home: {},
    bin: {},
    project: { 'a.txt': 'a\n', 'package.json': JSON.stringify({ type: 'module', scripts }), node_modules: {} },
    tmp: {},
  });
  symlinkSync(ROOT, join(folder, 'project', 'node_modules', 'repohost-emulator'));
  const npx = join(folder, 'bin', 'npx');
  writeFileSync(npx, `#!/bin/sh\nname=$1\nshift\nexec '${process.execPath}' '${ROOT}bin/'$name.js "$@"\n`);
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
  test.match(await run(`${identity} && git init -q -b main && git add a.txt && git commit -qm First`), { code: 0 });
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
  const parts = ['git clone http://t:$TOKEN', 'commit-pack --data-binary', 'thawing;retry-after'];
  const { code, said } = await run(onIts(parts.map((words) => block(t, README, words)).join('')));
  t.match(said, /"commit_sha"/, 'the API writes');
  t.match(said, /"title":"Repository Thawing"/);
  t.match(said, /Too many requests/);
  t.not(code, 0, 'the last line meets its error');
  t.equal(readFileSync(join(folder, 'tmp', 'app', 'hello.txt'), 'utf8'), 'hello\n');
  t.ok(existsSync(join(folder, 'tmp', 'app', 'a.txt')));
});

t.test('the suite checks the emulator of the package, and would check a deployment', async (t) => {
  const { run } = await createProject(t);
  const [own = '', ...deployment] = block(t, README, 'npx conformance run').split('\n');
  const checked = await run(own.replace('run', 'run --only repo.get'));
  t.match(checked, { code: 0, said: 'conforms' });
  const missing = await run(deployment.join('\n'));
  t.match(missing, { code: 2, said: 'private.pem' }, 'all it lacks is the key');
});

/**
 * Code blocks that need only a running emulator with a repository `team/app`. Each row has words to find the block, a
 * pattern of its expected output, and its exit code.
 */
const COMMANDS: readonly { readonly words: string; readonly says: string | RegExp; readonly code?: number }[] = [
  { words: '"state":"thawing"', says: /thawing[\s\S]*authentication="unavailable"/ },
  { words: "fault add 'service_unavailable", says: /cut\*1;fraction=0\.5;how=rst|"fraction": ?0\.5|gitUploadPack/ },
  { words: "add 'latency;ms=100;jitter=50'", says: /^fault-1\n$/ },
  { words: 'dist=lognormal', says: /^fault-1\n$/ },
  { words: 'slice;size=100', says: /^fault-1\nfault-2\n$/ },
  { words: 'how=expired', says: /^fault-1\nfault-2\n$/ },
  { words: 'reason=no docs', says: /^fault-1\nfault-2\nfault-3\n$/ },
  { words: '"present": false', says: /^fault-1\n$/ },
  { words: 'text=secret found', says: /^fault-1\nfault-2\nfault-3\n$/ },
  { words: 'user-agent*=curl', says: /^fault-1\nfault-2\nfault-3\n$/ },
  { words: 'fault disable', says: /fault-1 +registered +disabled +0 +0 +2 / },
  { words: 'lost@git.report', says: /fatal: the remote end hung up/, code: 1 },
  { words: '_emulator/quotas', says: '"gateway"' },
  { words: 'clock freeze', says: 'frozen' },
  { words: '--key restricted', says: /^(\S+\.\S+\.\S+\s+){5}$/ },
];

for (const { words, says, code = 0 } of COMMANDS) {
  t.test(`a block of commands does what it says: ${words}`, async (t) => {
    const { run } = await createProject(t);
    const onIts = await startedOn(t);
    const create = block(t, README, 'git clone http://t:$TOKEN').split('\n').slice(0, 2).join('\n');
    t.match(await run(onIts(`export EMULATOR_URL=http://127.0.0.1:8080\n${create}`)), { code: 0 });
    const done = await run(onIts(`export EMULATOR_URL=http://127.0.0.1:8080\n${block(t, GUIDE, words)}`));
    t.equal(done.code, code, done.said);
    t.match(done.said, says);
  });
}

t.test('a scenario is started, and made of recorded traffic', async (t) => {
  const { run, folder } = await createProject(t);
  const onIts = await startedOn(t);
  const url = 'export EMULATOR_URL=http://127.0.0.1:8080';
  const record = `${url}\ncurl -s $EMULATOR_URL/api/repos\ncurl -s "$EMULATOR_URL/_emulator/requests?format=har" > incident.har`;
  t.match(await run(onIts(record)), { code: 0 });
  const started = await run(onIts(`${url}\n${block(t, GUIDE, 'scenario start')}`));
  t.equal(started.code, 0, started.said);
  const { code, said } = await run('npx emulator scenario from-har incident.har > incident.yaml');
  t.equal(code, 0, said);
  t.match(readFileSync(join(folder, 'project', 'incident.yaml'), 'utf8'), 'op: listRepositories');
});

t.test('an incident is recorded and replayed', async (t) => {
  const { run, folder } = await createProject(t);
  const onIts = await startedOn(t);
  const commands = block(t, GUIDE, 'emulator record').replaceAll(
    /https:\/\/\w+\.example\.com/g,
    'http://127.0.0.1:8080',
  );
  const { code, said } = await run(onIts(commands));
  t.equal(code, 0, said);
  t.match(said, /Recorded \d+ exchanges in incident\.har\./);
  t.match(said, 'Entry 1 (GET /_emulator/health, 200): the emulator has no such route.');
  t.match(readFileSync(join(folder, 'project', 'incident.yaml'), 'utf8'), 'op: gitInfoRefs');
});

t.test('exec runs what follows beside an emulator', async (t) => {
  const { run } = await createProject(t);
  for (const name of [README, GUIDE]) {
    const { code, said } = await run(block(t, name, name === README ? 'emulator exec' : 'quiet -- npm test'));
    t.equal(code, 0, said);
    t.match(said, '"emulator":true', name);
  }
  const verified = await run(block(t, GUIDE, '--verify -- npm test'));
  t.match(verified, { code: 0, said: /0 broken, \d+ not applicable\nmet\n/ });
  const { code, said } = await run(block(t, GUIDE, '--tls -- sh -c'));
  t.equal(code, 0, said);
  t.match(said, /^http:\/\/127\.0\.0\.1:\d+ demo \/\S+\.pem$/m);
});

t.test('the reference begins with a command that exists', async (t) => {
  const { run } = await createProject(t);
  t.match(await run(block(t, GUIDE, 'npx emulator --help')), { code: 0, said: 'emulator variants' });
});

t.test('a script finds an emulator that starts, and ends when it does not', async (t) => {
  const { run, folder } = await createProject(t);
  const script = block(t, GUIDE, '--ready-file ready.json').replace(
    '# ... tests ...',
    'curl -s "$BASE_URL/_emulator/health"',
  );
  const { code, said } = await run(script);
  t.equal(code, 0, said);
  t.match(said, '"emulator":true');
  t.notOk(existsSync(join(folder, 'project', 'ready.json')));
  // The server cannot start, because its port is invalid. The command `wait` must notice that the server process has
  // ended, instead of waiting for the timeout.
  const broken = await run(script.replace('--port 0', '--port x').replace('wait --', 'wait --timeout 24h --'));
  t.match(broken, {
    code: 3,
    said: /^--port must be .*\n(.*\n)*No emulator \(ready file "ready\.json"\): the process \d+ has ended\.\n$/,
  });
});

t.test('remotes that are written with https reach the emulator, for one command only', async (t) => {
  const { run, folder } = await createProject(t);
  const onIts = await startedOn(t);
  const create = block(t, README, 'git clone http://t:$TOKEN').split('\n').slice(0, 2).join('\n');
  const config = readFileSync(join(folder, 'home', '.gitconfig'), 'utf8');
  const { code, said } = await run(onIts(`${create}\n${block(t, GUIDE, 'insteadOf')}`));
  t.equal(code, 0, said);
  t.match(said, /(up-to-date|HEAD -> main)[\s\S]*refs\/heads\/main/);
  t.equal(readFileSync(join(folder, 'home', '.gitconfig'), 'utf8'), config, 'nothing stays in the configuration');
});

for (const path of [
  ...['node-test', 'tap', 'vitest', 'jest'].map((runner) => `${runner}/lost-response.test.js`),
  'node-test/process.test.js',
]) {
  t.test(`a block is the test ${path} of a project that is run`, async (t) => {
    const text = readFileSync(join(ROOT, 'emulator', 'test', 'runners', path), 'utf8');
    t.equal(block(t, GUIDE, text), text);
  });
}

for (const language of LANGUAGES) {
  t.test(`the example on the page for ${language.name} is a file that a test runs`, async (t) => {
    const page = `${GUIDE}${language.name}.md`;
    const text = readFileSync(exampleFile(language), 'utf8');
    t.equal(block(t, page, text), text);
    t.match(block(t, page, 'npx emulator exec'), /^npx emulator exec -- .*\n$/);
  });
}

for (const file of ['first-commit.test.js', 'clone.test.js']) {
  t.test(`the example ${file} is a file that npm run test:runners runs`, async (t) => {
    const text = readFileSync(join(ROOT, 'emulator', 'test', 'runners', 'client', file), 'utf8');
    t.equal(block(t, `${GUIDE}published-client.md`, text), text);
  });
}

t.test('a client by HTTPS, and one with built-in hosts, reach the emulator', async (t) => {
  const { run } = await createProject(t);
  const trusted = block(t, GUIDE, 'emulator ca');
  writeFileSync(join(t.testdirName, 'project', 'trusted.sh'), trusted.replace('curl ', 'curl -sf '));
  const secure = await run('npx emulator exec --log quiet --tls -- bash -e trusted.sh');
  t.match(secure, { code: 0, said: '"repos":[]' });
  const builtIn = await run(block(t, GUIDE, '--api-host api.demo.example.test'));
  t.equal(builtIn.code, 0, builtIn.said);
  t.match(builtIn.said, 'cloned an empty repository');
});

t.test('a remote needs no token where Git asks the emulator for it', async (t) => {
  const { run } = await createProject(t);
  const onIts = await startedOn(t);
  const create = block(t, README, 'git clone http://t:$TOKEN').split('\n').slice(0, 2).join('\n');
  const url = 'export EMULATOR_URL=http://127.0.0.1:8080';
  const { code, said } = await run(onIts(`${url}\n${create}\n${block(t, GUIDE, 'emulator credential')}`));
  t.equal(code, 0, said);
});

t.test('state goes out and comes in', async (t) => {
  const { run, folder } = await createProject(t);
  const onIts = await startedOn(t);
  const parts = ['emulator repo push', 'emulator export'].map((words) => block(t, GUIDE, words)).join('');
  const { code, said } = await run(onIts(`export EMULATOR_URL=http://127.0.0.1:8080\n${parts}`));
  t.equal(code, 0, said);
  t.match(said, 'team/empty');
  t.ok(existsSync(join(folder, 'project', 'files', 'a.txt')), 'Git reads what was written');
  const begun = await run(block(t, GUIDE, '--persist ./kept'));
  t.equal(begun.code, 0, begun.said);
  t.ok(existsSync(join(folder, 'project', 'kept', 'emulator.json')));
});

t.test('the action takes what the workflow gives it', async (t) => {
  const [uses] = parse(block(t, GUIDE, 'uses: OWNER/REPO')) as [{ readonly uses: string; readonly with: object }];
  const { inputs } = parse(readFileSync(join(ROOT, 'emulator', 'action.yml'), 'utf8')) as { readonly inputs: object };
  for (const name of Object.keys(uses.with)) t.ok(name in inputs, name);
});

t.test('the shell that reads the completion completes the command', async (t) => {
  const { run } = await createProject(t);
  const { code, said } = await run(`${block(t, GUIDE, 'emulator completion')}\ncomplete -p emulator`);
  t.equal(code, 0, said);
  t.match(said, 'complete ');
});

t.test('a signed commit is made as it stands', async (t) => {
  const { run } = await createProject(t);
  const signed = await run(block(t, GUIDE, 'gpg.format=ssh'));
  t.equal(signed.code, 0, signed.said);
  t.match(await run('git cat-file commit HEAD'), { code: 0, said: 'BEGIN SSH SIGNATURE' });
});

t.test('the emulator starts as it stands', async (t) => {
  const { run } = await createProject(t);
  const own = BLOCKS.find(({ name, block: { text } }) => name === README && text === 'npx emulator start\n');
  if (own) tried.add(own.block);
  t.equal(block(t, INDEX, 'npx emulator start'), own?.block.text, 'the index shows the same command');
  for (const command of [own?.block.text ?? '', block(t, GUIDE, 'npx emulator start --cors')]) {
    const settings = 'export EMULATOR_PORT=0 EMULATOR_LOG=quiet EMULATOR_READY_FILE=ready.json';
    const wait = 'npx emulator wait --ready-file ready.json --pid $!; kill $!; wait';
    const { code, said } = await run(`rm -f ready.json\n${settings}\n${command.trim()} >/dev/null &\n${wait}`);
    t.equal(code, 0, said);
  }
});

t.test('the ready line has the members that it is shown with', async (t) => {
  const { run } = await createProject(t);
  const { said } = await run('npx emulator exec --log quiet --ready-file ready.json -- cat ready.json');
  t.same(Object.keys(JSON.parse(said)), Object.keys(JSON.parse(block(t, GUIDE, '"event":"ready"'))));
});

/** Code that starts an emulator. It is put before JavaScript examples that do not start one. */
const BEGINNING = `
import { startEmulator } from 'repohost-emulator';
await using emulator = await startEmulator({ port: 0 });
`;

for (const { name, block } of BLOCKS.filter(({ block }) => block.language === 'ts')) {
  t.test(
    `${name}: a block of TypeScript runs: ${block.text.split('\n').find((line) => line.includes('emulator'))}`,
    async (t) => {
      tried.add(block);
      const { run, folder } = await createProject(t);
      const text = block.text.includes('startEmulator') ? block.text : BEGINNING + block.text;
      const { outputText } = ts.transpileModule(text, {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
      });
      writeFileSync(join(folder, 'project', 'block.js'), outputText);
      const { code, said } = await run('node block.js');
      t.equal(code, 0, said);
    },
  );
}

for (const { name, block } of BLOCKS.filter(({ block: { language, text } }) => {
  return language === 'js' && text.includes('startEmulator') && !text.includes('@pierre/storage');
})) {
  t.test(`${name}: a block of JavaScript that starts an emulator runs, and closes it`, async (t) => {
    tried.add(block);
    const { run, folder } = await createProject(t);
    t.match(block.text, 'emulator.close()');
    writeFileSync(join(folder, 'project', 'block.js'), block.text);
    const { code, said } = await run('node block.js');
    t.equal(code, 0, said);
  });
}

t.test('a program connects to the emulator of exec', async (t) => {
  const { run, folder } = await createProject(t);
  writeFileSync(join(folder, 'project', 'block.js'), block(t, GUIDE, 'connectEmulator(process.env.EMULATOR_URL)'));
  t.match(await run('npx emulator exec --log quiet -- node block.js'), { code: 0, said: '[]' });
});

t.test('await using is shown in TypeScript only', async (t) => {
  for (const { name, block } of BLOCKS) {
    if (block.language !== 'ts') t.notMatch(block.text, 'await using', name);
  }
});

/** Code blocks that no test can run. `why` has the reason, and sometimes what is tested instead. */
const NOT_RUN: readonly { readonly name: string; readonly words: string; readonly why: string }[] = [
  { name: README, words: 'npm ci', why: 'a test of a built checkout comes after it' },
  { name: README, words: 'npm link', why: 'it changes the machine' },
  { name: GUIDE, words: 'docker build', why: 'it needs Docker; what the file promises is tested' },
  { name: README, words: 'npm i -D', why: 'it needs the registry, or a packed checkout' },
  { name: README, words: 'flowchart', why: 'it is a diagram' },
  { name: GUIDE, words: '--tls -- node --test clone.test.js', why: 'npm run test:runners runs this file in this way' },
  { name: GUIDE, words: '--api-host api.demo.code.storage', why: 'npm run test:runners runs a file in this way' },
];

t.test('npm scripts that documents name exist, and no block is left out', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  for (const name of DOCUMENTS) {
    for (const [, script = ''] of readDocument(name).matchAll(/npm run ([\w:-]+)/g)) {
      t.ok(script in scripts, `${name}: npm run ${script}`);
    }
  }
  for (const { name, words } of NOT_RUN) block(t, name, words);
  const isOfScripts = (text: string) =>
    text
      .trim()
      .split('\n')
      .every((line) => /^npm (test|ci|run)/.test(line));
  const left = BLOCKS.filter(({ block }) => block.language !== '' && !tried.has(block) && !isOfScripts(block.text));
  t.same(
    left.map(({ name, block }) => [name, block.text]),
    [],
  );
});
