import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { createFsFromVolume, Volume } from 'memfs';
import { Admin } from '../admin.js';
import { git as nativeGit } from '../native-git.js';
import { Remote } from '../remote.js';
import { type Row, type Sides, timed } from '../row.js';
import { spawnEmulator, spawnPeer } from '../server-process.js';
import { commitBody } from '../soak/user.js';
import type { ServicePlace } from './service.js';

const FILES: ReadonlyMap<string, Buffer> = new Map([
  ['README.md', Buffer.from('# A test\n')],
  ['src/index.js', Buffer.from("export const answer = 'yes';\n")],
  ['test/index.test.js', Buffer.from("import { answer } from '../src/index.js';\n")],
]);

/** What a test of a client does: a repository of its own, a commit of three files, two clones, and its end. */
export const TEST_LIFE_ROWS: readonly Row<ServicePlace>[] = [
  {
    id: 'test-life',
    title: "a test's life: new repository, 3 files, clone by isomorphic-git, by git, delete",
    peer: 'git init, fast-import, git http-backend',
    unit: 'ms',
    bar: 1,
    open: openWhole,
  },
  {
    id: 'test-life-server',
    title: "a test's life: the server's part",
    peer: '',
    unit: 'ms',
    bar: 5,
    open: openServerPart,
  },
];

async function openWhole({ folder }: ServicePlace): Promise<Sides> {
  const emulator = await spawnEmulator();
  const work = await mkdtemp(join(folder, 'life-'));
  const cgi = await spawnPeer('cgi', work);
  const [ours, native] = [new Remote(emulator.origin), new Remote(cgi.origin)];
  return {
    ours: (round) => timed(() => liveOnce(ours, `life-${round}`, work)),
    native: (round) => timed(() => liveOnceNatively(native, `native-${round}`, work)),
    async close() {
      for (const remote of [ours, native]) remote.client.close();
      for (const server of [emulator, cgi]) await server[Symbol.asyncDispose]();
      await rm(work, { recursive: true });
    },
  };
}

/** The sum of what the journal says that the requests of one life took. */
async function openServerPart({ folder }: ServicePlace): Promise<Sides> {
  const emulator = await spawnEmulator();
  const work = await mkdtemp(join(folder, 'life-'));
  const remote = new Remote(emulator.origin);
  const admin = new Admin(remote);
  return {
    ours: async (round) => {
      await admin.ask('DELETE', 'requests');
      await liveOnce(remote, `life-${round}`, work);
      const { items } = (await admin.ask('GET', 'requests?limit=100')) as { items: { duration: number }[] };
      return items.reduce((sum, { duration }) => sum + duration, 0);
    },
    async close() {
      remote.client.close();
      await emulator[Symbol.asyncDispose]();
      await rm(work, { recursive: true });
    },
  };
}

async function liveOnce(remote: Remote, repo: string, work: string): Promise<void> {
  await remote.create(repo, 'main');
  const { status } = await remote.api(repo, `/api/repos/${repo}/commit-pack`, { body: commitBody(FILES) });
  if (status !== 201) throw new Error(`commit-pack was answered with ${status}`);
  await cloneTwice(remote, repo, work);
  await remote.delete(repo);
}

/** The same without a service for what Git has no requests for. */
async function liveOnceNatively(remote: Remote, repo: string, work: string): Promise<void> {
  const path = join(work, `${repo}.git`);
  await nativeGit(work, ['init', '-q', '--bare', '-b', 'main', path]);
  await nativeGit(path, ['fast-import', '--quiet'], { input: firstCommit() });
  await cloneTwice(remote, repo, work);
  await rm(path, { recursive: true });
}

function* firstCommit(): Generator<string | Buffer> {
  yield 'commit refs/heads/main\ncommitter Bench <bench@example.com> 1800000000 +0000\ndata 5\nFirst\n';
  for (const [path, content] of FILES) {
    yield `M 100644 inline ${path}\ndata ${content.length}\n`;
    yield content;
    yield '\n';
  }
}

async function cloneTwice(remote: Remote, repo: string, work: string): Promise<void> {
  const fs = createFsFromVolume(new Volume());
  const password = await remote.token(repo);
  const onAuth = () => ({ username: 't', password });
  await git.clone({ fs, http, dir: '/work', url: `${remote.origin}/${repo}.git`, onAuth });
  if ((await fs.promises.readFile('/work/README.md')).length === 0) throw new Error('isomorphic-git cloned nothing');
  const clone = join(work, `${repo}-clone`);
  await nativeGit(work, ['clone', '-q', await remote.url(repo), clone]);
  await rm(clone, { recursive: true });
}
