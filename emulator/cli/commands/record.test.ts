import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { type Emulator, type GivenOptions, startEmulator } from '../../index.js';
import { ended, spawnCli } from '../../test/cli-process.js';

// needs: git, curl

t.setTimeout(120_000);

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const SUITE = join(ROOT, 'bin', 'conformance.js');

/** Starts the emulator that stands for the deployment, with faults, and a folder with a separate home for Git. */
async function startDeployment(t: Test, faults: GivenOptions['seed'] | readonly unknown[] = []) {
  const emulator = await startEmulator({ port: 0 });
  t.teardown(() => emulator.close({ graceMs: 0 }));
  for (const fault of faults as readonly Parameters<Emulator['fault']>[0][]) emulator.fault(fault);
  const folder = t.testdir({ home: {} });
  const git = { GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' };
  const env = {
    ...git,
    HOME: join(folder, 'home'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    NO_PROXY: '*',
    EMULATOR_TOKEN: await emulator.token({ repo: 'team/app', scopes: SCOPES }),
    EMULATOR_ORG_NAME: emulator.org,
    EMULATOR_KEY_FILE: emulator.keyFile,
  };
  return { emulator, folder, env };
}

const SCOPES = ['repo:write', 'git:write', 'git:read', 'org:read'];

type Environment = Awaited<ReturnType<typeof startDeployment>>['env'];

async function run(t: Test, argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawnCli(t, argv, { env });
  const [code] = await ended(child);
  return { code, ...child.said };
}

/** Runs the client once through `emulator record`, and once with the scenario of the recording. */
async function recordAndReplay(
  t: Test,
  client: readonly string[],
  { emulator, folder, env }: { emulator: Emulator; folder: string; env: Environment },
  { flags = [], hosts = [] }: { flags?: readonly string[]; hosts?: readonly string[] } = {},
) {
  const [har, yaml] = [join(folder, 'incident.har'), join(folder, 'incident.yaml')];
  const place = (name: string) => {
    mkdirSync(join(folder, name));
    return ['env', '-C', join(folder, name), ...client];
  };
  const target = ['--api-url', emulator.baseUrl, '--out', har, ...flags, ...hosts];
  const recorded = await run(t, ['record', ...target, '--', ...place('first')], env);
  const converted = await run(t, ['scenario', 'from-har', har]);
  t.equal(converted.code, 0, converted.err);
  writeFileSync(yaml, converted.out);
  const { EMULATOR_TOKEN: _, ...others } = env;
  const replay = ['exec', '--log', 'quiet', '--scenario', yaml, ...hosts, '--', ...place('second')];
  const replayed = await run(t, replay, others);
  return { recorded, converted, replayed, har };
}

/** Client of the API and of Git. Prints everything that it sees, except tokens and ports. */
const SHELL = `
auth="Authorization: Bearer $EMULATOR_TOKEN"
seen() { printf '\\n%s\\n' "$*"; }
ask() { curl -sS -w '\\n%{http_code} %{content_type} %header{retry-after}\\n' -H "$auth" "$@" 2>&1; seen "curl $?"; }
ask -X POST "$EMULATOR_URL/api/v1/repos"
ask "$EMULATOR_URL/api/v1/repo"
ask "$EMULATOR_URL/api/v1/repo"
git init -q -b main work
cd work
git config user.name A
git config user.email a@example.com
echo hello > a.txt
git add . && git commit -q -m First
remote="$(printf %s "$EMULATOR_GIT_URL" | sed "s#://#://t:$EMULATOR_TOKEN@#")/team/app.git"
hide() { sed 's#//t:[^@]*@#//#g; s#127.0.0.1:[0-9]*#HOST#g'; }
git push "$remote" HEAD:main 2>&1 | hide
cd ..
git clone -q "$remote" copy 2>&1 | hide
git clone -q "$remote" copy 2>&1 | hide
git -C copy log --format='%H %s'
ask -I "$EMULATOR_URL/api/v1/repo" | grep -iv '^date\\|^x-\\|^connection\\|^keep-alive\\|^content-length'
ask "$EMULATOR_URL/api/v1/repos/commit?sha=main"
ask "$EMULATOR_URL/api/v1/repos/branches"
ask -H 'Content-Type: application/json' "$EMULATOR_URL/api/v1/repos/grep" -d '{"query":{"pattern":"hello"}}'
`;

const FAULTS = [
  { match: { op: 'getRepository' }, when: { times: 1 }, do: { error: { code: 'rate_limited', retryAfter: 7, t: 3 } } },
  { match: { op: 'gitUploadPack' }, at: 'git.pack', when: { times: 1 }, do: { cut: { at: { bytes: 60 } } } },
  { match: { op: 'listBranches' }, do: { cut: { at: { bytes: 20 }, how: 'rst' } } },
  { match: { op: 'grep' }, do: { cut: {} }, at: 'headers' },
  {
    match: { op: 'getCommit' },
    do: { raw: { status: 503, headers: { 'content-type': 'text/html' }, bodyBase64: 'PGgxPg==' } },
  },
] as const;

t.test('curl and Git see the same in a replay as in the recording', async (t) => {
  const deployment = await startDeployment(t, FAULTS);
  const flags = ['--keep-git-bodies', '--max-body', '1MiB'];
  const { recorded, converted, replayed, har } = await recordAndReplay(t, ['sh', '-c', SHELL], deployment, { flags });
  t.equal(recorded.code, 0);
  t.match(recorded.err, /^Recorded \d+ exchanges in .*incident\.har\.\n$/);
  t.match(recorded.out, /\n429 application\/problem\+json 7\n/);
  t.match(recorded.out, /early EOF/, 'the first clone fails');
  t.match(recorded.out, /\n[\da-f]{40} First\n/);
  t.match(recorded.out, /<h1>\n503 text\/html \n/);
  t.match(recorded.out, /Connection reset by peer/);
  t.match(recorded.out, /Empty reply from server/);
  t.equal(replayed.code, 0, replayed.err);
  t.equal(replayed.out, recorded.out);
  t.equal(converted.err, '', 'everything is replayed');
  t.equal(statSync(har).mode & 0o777, 0o600);
  t.notMatch(readFileSync(har, 'utf8'), deployment.env.EMULATOR_TOKEN);
  const suite = spawn(process.execPath, [SUITE, 'check-har', har], { stdio: 'ignore' });
  t.same(await ended(suite), [0, null], 'the recording satisfies the rules of the specification');
});

t.test('the recording summarizes Git requests like the journal of the deployment', async (t) => {
  const script = `
    remote="$(printf %s "$EMULATOR_GIT_URL" | sed "s#://#://t:$EMULATOR_TOKEN@#")/team/app.git"
    curl -sf -o created -X POST -H "Authorization: Bearer $EMULATOR_TOKEN" "$EMULATOR_URL/api/v1/repos"
    git init -q -b main work && cd work
    commit() { git -c user.name=A -c user.email=a@x commit -q --allow-empty -m "$1"; }
    commit one && git push -q "$remote" HEAD:main HEAD:refs/heads/other
    for version in 0 1 2; do
      git -c protocol.version=$version clone -q "$remote" ../copy$version
      commit two && git push -q "$remote" HEAD:main
      git -C ../copy$version -c protocol.version=$version fetch -q
    done
    head -c 20000 /dev/urandom > large && git add large && commit large
    git push -q -o option=1 "$remote" HEAD:main
    git push -q "$remote" HEAD:refs/heads/refused || true`;
  const { emulator, folder, env } = await startDeployment(t, ['ng;ref=refs/heads/refused;reason=closed']);
  const har = join(folder, 'a.har');
  const recorded = await run(
    t,
    ['record', '--api-url', emulator.baseUrl, '--out', har, '--', 'env', '-C', folder, 'sh', '-ec', script],
    env,
  );
  t.equal(recorded.code, 0, recorded.err);
  const { entries } = JSON.parse(readFileSync(har, 'utf8')).log as {
    entries: { _emulator: { git?: object }; response: { status: number; content: object } }[];
  };
  const answered = entries.filter(({ _emulator, response }) => _emulator.git && response.status === 200);
  const journal = emulator.requests({ operation: 'git*', status: 200 }).map(({ git }) => git);
  t.ok(journal.length > 20);
  t.same(
    answered.map(({ _emulator }) => _emulator.git),
    journal,
  );
  t.ok(journal.some((git) => git?.haves.length !== 0));
  t.ok(journal.some((git) => git?.updates.some(({ refused }) => refused === 'closed')));
  t.notOk(
    answered.some(({ response }) => 'text' in response.content),
    'no body of a Git response is recorded',
  );
  const { code, err } = await run(t, ['scenario', 'from-har', har]);
  t.equal(code, 0);
  t.match(
    err,
    /^ {2}Entry 3 \(GET \/team\/app\.git\/info\/refs, 200\): .* does not contain the body .* --keep-git-bodies\.$/m,
  );
});

const CLIENT = `
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { GitStorage } from '@pierre/storage';
const { EMULATOR_KEY_FILE, EMULATOR_ORG_NAME, EMULATOR_URL, OPTIONS } = process.env;
const store = new GitStorage({ name: EMULATOR_ORG_NAME, key: readFileSync(EMULATOR_KEY_FILE, 'utf8'), ...JSON.parse(OPTIONS || '{}') });
const author = { name: 'Ada', email: 'ada@example.com' };
const show = async (act) => {
  const hide = (text) => text?.replace(/127\\.0\\.0\\.1:\\d+/g, 'HOST');
  try { console.log(hide(JSON.stringify(await act()))); }
  catch (error) { console.log(error.name, error.status, error.code, hide(error.message)); }
};
await show(() => store.listRepos());
let repo;
await show(async () => { repo = await store.createRepo({ id: 'team/app' }); });
const commit = () => repo.createCommit({ targetBranch: 'main', commitMessage: 'First', author }).addFileFromString('a.txt', 'hello\\n').send();
await show(commit);
await show(commit);
await show(() => repo.listCommits());
await show(async () => execFileSync('git', ['clone', '-q', await repo.getRemoteURL(), 'copy'], { stdio: ['ignore', 'pipe', 'pipe'] }).toString());
await show(async () => readFileSync('copy/a.txt', 'utf8'));
`;

t.test('the published client with its built-in hosts sees the same in a replay', async (t) => {
  const deployment = await startDeployment(t, [
    { match: { op: 'listRepositories' }, when: { times: 1 }, do: { error: { code: 'rate_limited', retryAfter: 0 } } },
    { match: { op: 'commitPack' }, when: { times: 1 }, do: { error: { code: 'service_unavailable' } } },
  ]);
  const file = join(ROOT, '.tap', `record-client-${process.pid}.mjs`);
  mkdirSync(join(ROOT, '.tap'), { recursive: true });
  writeFileSync(file, CLIENT);
  const hosts = ['--api-host', 'api.demo.code.storage', '--git-host', 'demo.code.storage'];
  const flags = ['--keep-git-bodies', '--max-body', '1MiB'];
  const { NO_PROXY: _, ...env } = deployment.env;
  const proxied = { ...deployment, env: env as Environment };
  const { recorded, replayed, converted } = await recordAndReplay(t, [process.execPath, file], proxied, {
    flags,
    hosts,
  });
  t.equal(recorded.code, 0, recorded.err);
  t.match(recorded.out, /hello/, 'Git has cloned the commit');
  t.match(recorded.out, /RefUpdateError/, 'the first commit failed');
  t.equal(replayed.code, 0, replayed.err);
  t.equal(replayed.out, recorded.out);
  t.equal(converted.err, '');
});
