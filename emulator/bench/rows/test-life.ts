import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { createFsFromVolume, Volume } from 'memfs';
import { Workbench } from '../../git/test/workbench.js';
import { git as nativeGit } from '../git.js';
import { type Remote, spawnEmulator, spawnPeer } from '../remote.js';
import { type Row, type Sides, timed, type Use } from '../row.js';
import { commitBody } from '../soak/user.js';
import type { ServicePlace } from './service.js';

const FILES: ReadonlyMap<string, Buffer> = new Map([
  ['README.md', Buffer.from('# A test\n')],
  ['src/index.js', Buffer.from("export const answer = 'yes';\n")],
  ['test/index.test.js', Buffer.from("import { answer } from '../src/index.js';\n")],
]);

/** Input of `git fast-import` that creates the first commit, which has three files. */
const FIRST_COMMIT = [
  'commit refs/heads/main\ncommitter Bench <bench@example.com> 1800000000 +0000\ndata 5\nFirst\n',
  ...Array.from(FILES, ([path, content]) => `M 100644 inline ${path}\ndata ${content.length}\n${content}\n`),
].join('');

/** Number of tests in the benchmark that compares the last tests with the first ones. */
const LIVES = 500;

/**
 * Benchmarks of a typical test of a client program. The test creates a repository, commits three files, clones twice,
 * and deletes the repository.
 */
export const TEST_LIFE_ROWS: readonly Row<ServicePlace>[] = [
  {
    id: 'test-life',
    title: "a test's life: new repository, 3 files, clone by isomorphic-git, by git, delete",
    peer: 'git init, fast-import, git http-backend',
    bar: 1,
    open: openWhole,
  },
  {
    id: 'test-lives',
    title: `${LIVES} such tests in one process: the last 100`,
    peer: 'the first 100',
    bar: 1,
    mostRounds: 1,
    open: openLives,
  },
  { id: 'test-life-server', title: "a test's life: the server's part", bar: 5, open: openServerPart },
];

async function openWhole(_place: ServicePlace, use: Use): Promise<Sides> {
  const { path } = use(await Workbench.create());
  const ours = use(await spawnEmulator());
  const native = use(await spawnPeer('cgi', path));
  return {
    ours: (round) => timed(() => liveOnce(ours, `life-${round}`, path)),
    native: (round) => timed(() => liveOnceNatively(native, `native-${round}`, path)),
  };
}

/**
 * Compares the duration of the last 100 tests with that of the first 100 tests in the same emulator process. A ratio
 * above 1 shows that the emulator becomes slower, for example because it keeps data of deleted repositories.
 */
async function openLives(_place: ServicePlace, use: Use): Promise<Sides> {
  const { path } = use(await Workbench.create());
  const remote = use(await spawnEmulator());
  let at = 0;
  const live = (count: number) =>
    timed(async () => {
      for (const end = at + count; at < end; at++) await liveOnce(remote, `life-${at}`, path);
    });
  const first = await live(100);
  await live(LIVES - 200);
  return { ours: () => live(100), native: async () => first };
}

/**
 * Measures the emulator's part of a typical test: the total duration of its requests, as recorded in the emulator's
 * journal.
 */
async function openServerPart(_place: ServicePlace, use: Use): Promise<Sides> {
  const { path } = use(await Workbench.create());
  const remote = use(await spawnEmulator());
  return {
    ours: async (round) => {
      await remote.admin('DELETE', 'requests');
      await liveOnce(remote, `life-${round}`, path);
      const { items } = await remote.admin<{ items: { duration: number }[] }>('GET', 'requests?limit=100');
      return items.reduce((sum, { duration }) => sum + duration, 0);
    },
  };
}

async function liveOnce(remote: Remote, repo: string, work: string): Promise<void> {
  await remote.create(repo);
  await remote.change(repo, '/commit-pack', { body: commitBody(FILES) });
  await cloneTwice(remote, repo, work);
  await remote.delete(repo);
}

/**
 * Runs the steps of a typical test with git commands on a local folder. Git has no requests to create or delete a
 * repository.
 */
async function liveOnceNatively(remote: Remote, repo: string, work: string): Promise<void> {
  const path = join(work, `${repo}.git`);
  await nativeGit(work, ['init', '-q', '--bare', '-b', 'main', path]);
  await nativeGit(path, ['fast-import', '--quiet'], { input: [FIRST_COMMIT] });
  await cloneTwice(remote, repo, work);
  await rm(path, { recursive: true });
}

async function cloneTwice(remote: Remote, repo: string, work: string): Promise<void> {
  const fs = createFsFromVolume(new Volume());
  const password = await remote.token(repo);
  const onAuth = () => ({ username: 't', password });
  await git.clone({ fs, http, dir: '/clone', url: `${remote.origin}/${repo}.git`, onAuth });
  if ((await fs.promises.readFile('/clone/README.md')).length === 0) throw new Error('isomorphic-git cloned nothing');
  const clone = join(work, `${repo}-clone`);
  await nativeGit(work, ['clone', '-q', await remote.url(repo), clone]);
  await rm(clone, { recursive: true });
}
