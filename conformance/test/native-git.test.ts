import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Options, run } from '../index.js';
import type { Target } from '../target/target.js';
import { startProxy } from './mutants/proxy.js';
import { startNamespace } from './shared-emulator.js';

/** Ids of rules that are checked with each Git client that the option `gitClient` selects. */
const RULES = [
  'git.clone.complete',
  'git.fetch',
  'git.fetch.branch',
  'git.push',
  'git.remote.form',
  'git.remote.repository',
  'git.visibility.git-to-api',
];

const hasGit = spawnSync('git', ['--version']).status === 0;
const skip = !hasGit && 'git is not installed: apt-get install git';
const emulator = await startNamespace(t);

async function verdictsOf(target: Target, gitClient: NonNullable<Options['gitClient']>) {
  const report = await run(target, { only: RULES.join(','), gitClient });
  // The option `only` selects all rules whose ids begin with the given text, so the results of other rules are removed.
  const rules = report.rules.filter(({ id }) => RULES.includes(id));
  return { report, rules, verdicts: Object.fromEntries(rules.map(({ id, verdict }) => [id, verdict])) };
}

const allOf = (verdict: string) => Object.fromEntries(RULES.map((id) => [id, verdict]));

t.test('the emulator passes with native Git, alone and beside the client of the suite', { skip }, async (t) => {
  const version = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim().replace('git version', 'git');
  for (const client of ['native', 'both'] as const) {
    const { report, rules, verdicts } = await verdictsOf(emulator, client);
    t.same(verdicts, allOf('pass'), client);
    t.equal(report.mode.git_client, client);
    for (const { id, observed } of rules) t.equal(observed?.['native Git client'], version, id);
  }
});

t.test('a server that only native Git finds wrong passes with the client of the suite', { skip }, async (t) => {
  // This server reports the repository as absent if the client accepts compressed responses. Native Git does,
  // isomorphic-git does not.
  await using proxy = await startProxy(emulator, {
    request: (request) => {
      if (/gzip/.test(request.headers['accept-encoding'] ?? '')) request.path = '/absent.git/info/refs';
    },
  });
  t.same((await verdictsOf(proxy.target, 'js')).verdicts, allOf('pass'));
  const { rules, verdicts } = await verdictsOf(proxy.target, 'both');
  t.same(verdicts, allOf('fail'));
  const [first] = rules;
  t.match(first, { reason: /with git 2\.[\d.]+ must succeed$/, actual: /not found/ });
});

t.test('the process of Git gets no token, and its folder is removed', { skip }, async (t) => {
  const folder = t.testdir({ bin: {}, tmp: {} });
  const log = join(folder, 'log');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(join(folder, 'bin', 'git'), `#!/bin/sh\n{ echo "$@"; env; } >> '${log}'\nexec '${real}' "$@"\n`);
  chmodSync(join(folder, 'bin', 'git'), 0o755);
  const { PATH, TMPDIR } = process.env;
  process.env.PATH = `${join(folder, 'bin')}:${PATH}`;
  process.env.TMPDIR = join(folder, 'tmp');
  process.env.GIT_DIR = '/absent';
  t.teardown(() => {
    process.env.PATH = PATH;
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    delete process.env.GIT_DIR;
  });
  t.same((await verdictsOf(emulator, 'native')).verdicts, allOf('pass'));
  const seen = readFileSync(log, 'utf8');
  t.match(seen, /^fetch -q --no-tags http:\/\/127\.0\.0\.1:\d+\//m);
  t.notMatch(seen, /eyJ/, 'no JWT');
  t.notMatch(seen, /^GIT_DIR=/m, 'no variable that leads Git to another repository');
  t.same(readdirSync(join(folder, 'tmp')), []);
});

t.test('without a Git that is new enough, the rules are skipped with the reason', async (t) => {
  const folder = t.testdir({ old: {}, none: {} });
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'old', 'git'), '#!/bin/sh\necho git version 2.30.9\n');
  chmodSync(join(folder, 'old', 'git'), 0o755);
  const { PATH } = process.env;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  for (const [name, reason] of [
    ['none', /^git is not on the PATH, which --git-client native needs$/],
    ['old', /^--git-client native needs git 2\.31 or newer; this is 2\.30\.9$/],
  ] as const) {
    process.env.PATH = name === 'old' ? `${join(folder, name)}:/bin` : join(folder, name);
    const { rules, verdicts } = await verdictsOf(emulator, 'both');
    t.same(verdicts, allOf('skip'), name);
    for (const rule of rules) t.match(rule.reason, reason);
  }
});
