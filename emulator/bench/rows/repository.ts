import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diffTrees } from '../../git/diff/diff.js';
import { Fsck } from '../../git/fsck/fsck.js';
import { indexPack } from '../../git/index-pack/index-pack.js';
import { readCommit } from '../../git/object/commit.js';
import { ObjectStore } from '../../git/odb/object-store.js';
import { inPieces } from '../../git/odb/test/pack-builder.js';
import { Workbench } from '../../git/test/workbench.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { type Fixture, initServerRepository } from '../fixture.js';
import { git, runGit } from '../git.js';
import { type LoneIngest, MAX_STALL } from '../lone-ingest.js';
import { FIRST_QUESTIONS, QUESTIONS, type Question, TIPS } from '../questions.js';
import { Remote, spawnEmulator, succeeded } from '../remote.js';
import { type Row, type Sides, timed, type Use } from '../row.js';
import { APP, type Stage } from '../stage.js';
import { CLIENT_ROWS } from './client.js';
import { CONCURRENT_CLONE_ROWS } from './concurrent.js';
import { timeForks } from './worlds.js';

const MiB = 2 ** 20;
/** Minimum size of a pack in bytes for memory benchmarks. With a smaller pack, loaded code takes most of the memory. */
const LARGE = 64 * MiB;
/** Benchmarks that are measured for each repository that the user names. */
export const ROWS_OF_REPOSITORY: readonly Row<Stage>[] = [
  {
    id: 'ingest',
    title: 'ingest of a pack, checked',
    peer: 'git index-pack --strict --threads=1',
    bar: 0.55,
    open: openIngest,
  },
  { id: 'diff-50', title: 'patches of 50 commits', peer: 'git log -p', bar: 0.8, open: openPatches },
  ...FIRST_QUESTIONS.flatMap(([id, title, bar, question]) => [
    firstRow(`first-${id}`, `first ${title}`, bar, question, true),
    firstRow(`first-${id}-new-process`, `first ${title}, new process`, bar, question, false),
  ]),
  firstRow('first-patches-50-apart', 'first patches of 50 commits', 0.2, QUESTIONS.patchesApart, true),
  firstRow(
    'first-patches-50-apart-new-process',
    'first patches of 50 commits, new process',
    0.2,
    QUESTIONS.patchesApart,
    false,
  ),
  fetchRow('info-refs', 'info/refs', 0.15, QUESTIONS.infoRefs),
  fetchRow('ls-refs', 'ls-refs', 0.15, QUESTIONS.lsRefs),
  { ...fetchRow('clone-all', 'full clone, all refs', 0.1, QUESTIONS.allRefs), barOf: { 'git/git': 0.25 } },
  fetchRow('clone-branch', 'one-branch clone, later (another tip each time)', 0.2, QUESTIONS.oneBranch),
  fetchRow('clone-depth-1', 'clone of depth 1', 0.1, QUESTIONS.depthOne),
  fetchRow('fetch-1', 'fetch of 1 commit', 0.15, QUESTIONS.oneCommit),
  fetchRow('fetch-100', 'fetch of 100 commits', 0.15, QUESTIONS.hundredCommits),
  bytesRow('bytes-clone-depth-1', 'clone of depth 1: bytes', QUESTIONS.depthOne),
  bytesRow('bytes-fetch-1', 'fetch of 1 commit: bytes', QUESTIONS.oneCommit),
  bytesRow('bytes-fetch-100', 'fetch of 100 commits: bytes', QUESTIONS.hundredCommits),
  ...CONCURRENT_CLONE_ROWS,
  ...CLIENT_ROWS,
  {
    id: 'import',
    title: 'start with --import of the repository',
    peer: 'git clone --bare --no-local',
    bar: 0.5,
    isFor: ({ fixture }) => fixture.packBytes >= LARGE,
    open: openImport,
  },
  laterRow('metadata-warm', 'metadata of all files, warm', 0.05, QUESTIONS.metadata),
  laterRow('grep-literal-warm', 'grep for a word, warm', 0.06, QUESTIONS.grepLiteral),
  laterRow('grep-regex-warm', 'grep for an expression, warm', 0.5, QUESTIONS.grepExpression),
  laterRow('archive', 'tar.gz at level 6', 0.75, QUESTIONS.archive),
  laterRow('diff-1', 'diff of a commit', 1, QUESTIONS.diff),
  { id: 'merge', title: 'merge', peer: 'git merge-tree --write-tree', bar: 1, open: openMerge },
  laterRow('blame-warm', 'blame, warm', 1.5, QUESTIONS.blame),
  { id: 'fork', title: 'a fork of a world that holds it', bar: 2, open: ({ ours }) => timeForks(ours) },
  {
    id: 'fork-clone',
    title: 'first one-branch clone from the fork',
    peer: 'from the world itself, warm',
    bar: 1.1,
    mostRounds: 100,
    open: openForkClone,
  },
  stallRow('stall-ingest', 'in a lone ingest'),
  stallRow('stall-after-ingest', 'after a lone ingest'),
  stallRow('stall-first-questions', 'in the first questions'),
  heldRow('memory-held', 'memory held over pack bytes, after all first questions'),
  heldRow('memory-held-values', '— of it values and buffers'),
];

/**
 * Measures how fast the emulator's object engine indexes a pack, compared with `git index-pack`. Runs in this process
 * without HTTP.
 */
async function openIngest({ fixture }: Stage, use: Use): Promise<Sides> {
  const { path: folder } = use(await Workbench.create());
  const pack = await readFile(fixture.packFile);
  const repository = join(folder, 'index-pack.git');
  // Creates a repository to run git in, because `git index-pack --strict` crashes outside of one.
  await initServerRepository(repository, fixture.branch);
  const index = join(folder, 'bench.idx');
  const args = ['index-pack', '--strict', '--threads=1', '-o', index, fixture.packFile];
  return {
    ours: () => timed(() => ingest(pack, fixture)),
    native: async () => {
      await rm(index, { force: true });
      return timed(() => git(repository, args));
    },
  };
}

async function openPatches({ fixture }: Stage): Promise<Sides> {
  const store = await ingest(await readFile(fixture.packFile), fixture);
  const commits = fixture.line.slice(0, 51);
  const log = ['log', '-p', '-M', '--first-parent', '-m', `-${commits.length - 1}`, commits[0]!];
  return {
    ours: () =>
      timed(async () => {
        for (let at = 0; at + 1 < commits.length; at++) {
          const [before, after] = [commits[at + 1]!, commits[at]!].map((commit) => readCommit(store, commit).tree);
          const { files } = await diffTrees(store, before, after, { meter: unlimited() });
          for (const file of files) file.raw();
        }
      }),
    native: () => timed(() => runGit(fixture.path, log)),
  };
}

/**
 * Measures the start of an emulator that imports the repository, until it can serve requests. Git clones the repository
 * to another folder, and indexes the pack.
 */
async function openImport({ fixture }: Stage, use: Use): Promise<Sides> {
  const { path: folder } = use(await Workbench.create());
  return {
    ours: async () => {
      const start = performance.now();
      await using server = await spawnEmulator(['--import', fixture.path]);
      succeeded('the import', await server.request('/_emulator/repositories'));
      return performance.now() - start;
    },
    native: async (round) => {
      const target = join(folder, `clone-${round}.git`);
      const time = await timed(() => git(folder, ['clone', '-q', '--bare', '--no-local', fixture.path, target]));
      await rm(target, { recursive: true });
      return time;
    },
  };
}

/**
 * Indexes a pack as the emulator does after a push, so that the cost of a push without the transfer is measured. Reads
 * the objects, resolves deltas, computes object ids, and runs the checks of `git fsck` and of connectivity.
 */
async function ingest(pack: Buffer, { refs }: Fixture): Promise<ObjectStore> {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const fsck = new Fsck();
  const pieces = inPieces(pack, 64 * 1024);
  await indexPack(quarantine, pieces, { thin: false, check: (...object) => fsck.check(...object) });
  fsck.finish(quarantine);
  await quarantine.checkConnectivity(refs.map(({ oid }) => oid));
  quarantine.publish();
  return store;
}

/**
 * Defines a benchmark of the first request to a repository after a push. Every round uses a new emulator process and a
 * new repository. If `isWarm` is true, the process first serves other repositories, so that its code is compiled.
 * Otherwise it has served nothing before.
 */
function firstRow(id: string, title: string, bar: number, question: Question, isWarm: boolean): Row<Stage> {
  const open = async (stage: Stage) => {
    const { ask, askNative } = await (await question.prepare(stage.fixture))(0);
    const practise = isWarm ? await stage.practice() : undefined;
    return {
      ours: async () => {
        await using server = await spawnEmulator();
        await practise?.(server);
        await server.seed(APP, stage.fixture);
        return await timed(() => ask(server, APP));
      },
      native: () => timed(() => askNative(stage.native, APP)),
    };
  };
  return { id, title, peer: question.peer, bar, open };
}

/**
 * Defines a benchmark of a repeated request to the running servers. The first request is slower and has its own
 * benchmark, so it is sent before the measurement. `practice` is the round number of this unmeasured request.
 */
function laterRow(id: string, title: string, bar: number, question: Question, practice = 0): Row<Stage> {
  const open = async ({ fixture, ours, native }: Stage) => {
    const of = await question.prepare(fixture);
    await (await of(practice)).ask(ours, APP);
    const measure = (side: 'ask' | 'askNative', remote: Remote) => async (round: number) => {
      const prepared = await of(round);
      return timed(() => prepared[side](remote, APP));
    };
    return { ours: measure('ask', ours), native: measure('askNative', native) };
  };
  return { id, title, peer: question.peer, bar, open };
}

/**
 * Defines a benchmark of a git client's requests. They are sent directly over HTTP, because a git client would add its
 * own time to the figures of both servers.
 */
function fetchRow(id: string, title: string, bar: number, question: Question): Row<Stage> {
  return laterRow(id, title, bar, question, TIPS - 1);
}

function bytesRow(id: string, title: string, question: Question): Row<Stage> {
  const open = async ({ fixture, ours, native }: Stage) => {
    const of = await question.prepare(fixture);
    const measure = (remote: Remote) => async (round: number) =>
      (await (await of(round)).ask(remote, APP)).length / 1024;
    return { ours: measure(ours), native: measure(native) };
  };
  return { id, title, peer: question.peer, bar: 1.5, unit: 'KB', open };
}

const AUTHOR = { name: 'Bench', email: 'bench@example.com' };

/** Measures a merge through the API. Each round repeats the newest merge of the fixture's history on a new branch. */
async function openMerge({ fixture, ours }: Stage): Promise<Sides> {
  const found = await git(fixture.path, ['rev-list', '--merges', '--max-count=1', '--parents', fixture.line[0]!]);
  const [, into, from] = found.split(' ') as [string, string, string];
  return {
    ours: async (round) => {
      const target_branch = `bench-merge-${round}`;
      await ours.change(APP, '/branches/create', { json: { base_ref: into, target_branch } });
      const merge = { source_ref: from, target_branch, strategy: 'merge', commit_message: 'Merge', author: AUTHOR };
      return timed(() => ours.change(APP, '/merge', { json: merge }));
    },
    native: () => timed(() => runGit(fixture.path, ['merge-tree', '--write-tree', into, from], { accept: [0, 1] })),
  };
}

/**
 * Measures a clone from a namespace that was created from a snapshot, compared with a clone from the original. Each
 * round clones a different commit on both sides, so that no cached pack is used.
 */
async function openForkClone({ ours, fixture }: Stage): Promise<Sides> {
  const snapshot = (await ours.add('snapshots')).id;
  const of = await QUESTIONS.oneBranch.prepare(fixture);
  const clone = async (remote: Remote, tip: number) => {
    const { ask } = await of(tip);
    await remote.token(APP);
    return timed(() => ask(remote, APP));
  };
  await clone(ours, 0);
  return {
    ours: async (round) => {
      const fork = await ours.add('namespaces', { snapshot });
      await using remote = new Remote(fork.base_url);
      const time = await clone(remote, 2 * round + 1);
      await ours.admin('DELETE', `namespaces/${fork.id}`);
      return time;
    },
    native: (round) => clone(ours, 2 * round + 2),
  };
}

/**
 * Defines a benchmark of the longest time in milliseconds that the emulator's event loop was blocked in one phase. The
 * emulator runs in its own process and contains only the fixture.
 */
function stallRow(id: keyof LoneIngest, phase: string): Row<Stage> {
  const open = ({ loneIngest }: Stage) => ({ ours: async () => (await loneIngest())[id] });
  return { id, title: `longest stall ${phase}`, bar: MAX_STALL, mostRounds: 1, open };
}

/**
 * Defines a benchmark of the emulator's memory in MiB. The emulator contains only the fixture, and has served each kind
 * of first request once.
 */
function heldRow(id: keyof LoneIngest, title: string): Row<Stage> {
  const isFor = ({ fixture }: Stage) => fixture.packBytes >= LARGE;
  const open = ({ loneIngest, fixture }: Stage) => ({
    ours: async () => (await loneIngest())[id] / MiB,
    native: async () => fixture.packBytes / MiB,
  });
  return { id, title, peer: 'the pack', unit: 'MB', bar: 1.6, mostRounds: 1, isFor, open };
}
