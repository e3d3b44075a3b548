import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Oid, parseOid } from '../../git/object/object.js';
import { initServerRepository } from '../fixture.js';
import { git } from '../native-git.js';
import type { Remote } from '../remote.js';
import { type Measure, type Row, type Sides, timed } from '../row.js';
import { APP, type Stage } from '../stage.js';

/** First parents of the tip that the fetching clients start from, and so the most rounds of that row. */
const STEPS = 40;

/** The same work done by the git client, which is most of it: what a user waits. */
export const CLIENT_ROWS: readonly Row<Stage>[] = [
  clientRow({ id: 'git-clone', title: 'git clone --bare', bar: 0.9 }, (stage, folder) => openClone(stage, folder)),
  clientRow({ id: 'git-clone-depth-1', title: 'git clone --bare --depth 1', bar: 0.5 }, (stage, folder) =>
    openClone(stage, folder, '--depth=1'),
  ),
  clientRow({ id: 'git-fetch-1', title: 'git fetch of 1 commit', bar: 0.65, mostRounds: STEPS }, openFetch),
  clientRow({ id: 'git-push-1', title: 'git push of 1 commit', bar: 0.5 }, openPushOne),
  clientRow({ id: 'git-push-all', title: 'git push of everything', bar: 0.7 }, openPushAll),
];

/** A row with a folder of its own for the clients' repositories. */
function clientRow(
  head: Pick<Row<Stage>, 'id' | 'title' | 'bar' | 'mostRounds'>,
  open: (stage: Stage, folder: string) => Sides | Promise<Sides>,
): Row<Stage> {
  return {
    ...head,
    peer: 'git http-backend',
    unit: 'ms',
    open: async (stage) => {
      const folder = await mkdtemp(join(stage.folder, 'client-'));
      const sides = await open(stage, folder);
      return {
        ...sides,
        async close() {
          await sides.close?.();
          await rm(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

type SideName = 'ours' | 'native';

/** A measure of each side, which gets the side's name for the files it makes. */
function bothSides(stage: Stage, side: (remote: Remote, name: SideName) => Measure): Sides {
  return { ours: side(stage.ours, 'ours'), native: side(stage.native, 'native') };
}

function openClone(stage: Stage, folder: string, ...flags: string[]): Sides {
  const target = join(folder, 'clone.git');
  return bothSides(stage, (remote) => async () => {
    const url = await remote.url(APP);
    const time = await timed(() => git(folder, ['clone', '-q', '--bare', ...flags, url, target]));
    await rm(target, { recursive: true });
    return time;
  });
}

/** Each round brings a clone that lags behind one first parent further. */
function openFetch(stage: Stage, folder: string): Sides {
  const { line, branch } = stage.fixture;
  const start = Math.min(STEPS, line.length - 1);
  const fetch = ['fetch', '-q', '--no-auto-maintenance', '--no-write-fetch-head'];
  return bothSides(stage, (remote, name) => async (round) => {
    const clone = join(folder, `${name}.git`);
    const url = await remote.url(APP);
    if (round === 0) {
      await git(folder, ['init', '-q', '--bare', clone]);
      await git(clone, [...fetch, url, `${line[start]}:refs/heads/${branch}`]);
    }
    const wanted = line[Math.max(start - 1 - round, 0)];
    return timed(() => git(clone, [...fetch, url, `${wanted}:refs/heads/${branch}`]));
  });
}

/** A new commit each round, on repositories of the row's own, so that the other rows ask about what they always did. */
async function openPushOne(stage: Stage, folder: string): Promise<Sides> {
  const { fixture, ours, nativeRoot } = stage;
  const clone = join(folder, 'pushing.git');
  const target = 'push-target';
  const repository = join(nativeRoot, `${target}.git`);
  await git(folder, ['clone', '-q', '--bare', fixture.path, clone]);
  await cp(fixture.path, repository, { recursive: true });
  await ours.seed(target, fixture);
  const commits = [fixture.line[0]!];
  const commitOf = async (round: number): Promise<Oid> => {
    for (let at = commits.length; at <= round + 1; at++) commits.push(await addCommit(clone, commits.at(-1)!, at));
    return commits[round + 1]!;
  };
  return {
    ...bothSides(stage, (remote) => async (round) => {
      const commit = await commitOf(round);
      const url = await remote.url(target);
      return timed(() => git(clone, ['push', '-q', url, `${commit}:refs/heads/bench-push`]));
    }),
    async close() {
      await ours.delete(target);
      await rm(repository, { recursive: true });
    },
  };
}

/** A commit on `parent` that adds a file in the root folder. */
async function addCommit(clone: string, parent: Oid, serial: number): Promise<Oid> {
  const blob = await git(clone, ['hash-object', '-w', '--stdin'], { input: [`round ${serial}\n`] });
  const entries = await git(clone, ['ls-tree', parent]);
  const added = `100644 blob ${blob}\tbench-round-${serial}.txt`;
  const tree = await git(clone, ['mktree'], { input: [`${entries}\n${added}\n`] });
  return parseOid(await git(clone, ['commit-tree', '-p', parent, '-m', `Round ${serial}`, tree]));
}

function openPushAll(stage: Stage, folder: string): Sides {
  const { fixture, ours, nativeRoot } = stage;
  const target = 'push-all';
  const repository = join(nativeRoot, `${target}.git`);
  return bothSides(stage, (remote, name) => async () => {
    if (name === 'ours') await ours.create(target, fixture.branch);
    else await initServerRepository(repository, fixture.branch);
    const url = await remote.url(target);
    const refs = ['refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'];
    const time = await timed(() => git(folder, ['--git-dir', fixture.path, 'push', '-q', url, ...refs]));
    if (name === 'ours') await ours.delete(target);
    else await rm(repository, { recursive: true });
    return time;
  });
}
