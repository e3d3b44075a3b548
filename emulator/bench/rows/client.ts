import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Workbench } from '../../git/test/workbench.js';
import { initServerRepository } from '../fixture.js';
import { addCommit, git } from '../git.js';
import type { Remote } from '../remote.js';
import { type Measure, type Row, timed, type Use } from '../row.js';
import { APP, type Stage } from '../stage.js';

/**
 * Number of commits that the clone of the fetch benchmark lacks at first, counted along the first parents. It is also
 * the maximum number of rounds, because each round fetches at least one commit.
 */
const STEPS = 40;

/**
 * Benchmarks that run the git client against the emulator and against Git's own server. They measure the time that a
 * user waits; the git client takes most of it.
 */
export const CLIENT_ROWS: readonly Row<Stage>[] = [
  clientRow('git-clone', 'git clone --bare', 0.9, openClone()),
  clientRow('git-clone-depth-1', 'git clone --bare --depth 1', 0.5, openClone('--depth=1')),
  { ...clientRow('git-fetch-1', 'git fetch of 1 commit', 0.65, openFetch), mostRounds: STEPS },
  clientRow('git-push-1', 'git push of 1 commit', 0.5, openPushOne),
  clientRow('git-push-all', 'git push of everything', 0.7, openPushAll),
];

/**
 * Returns the measurement of one server: the emulator (`ours`) or Git (`native`). `name` is part of the names of the
 * files that the measurement creates.
 */
type Side = (remote: Remote, name: 'ours' | 'native') => Measure;

type Prepare = (stage: Stage, folder: string, use: Use) => Side | Promise<Side>;

/** Defines a benchmark of the git client. It has its own temporary folder for the client's repositories. */
function clientRow(id: string, title: string, bar: number, prepare: Prepare): Row<Stage> {
  const open = async (stage: Stage, use: Use) => {
    const { path } = use(await Workbench.create());
    const side = await prepare(stage, path, use);
    return { ours: side(stage.ours, 'ours'), native: side(stage.native, 'native') };
  };
  return { id, title, bar, peer: 'git http-backend', open };
}

function openClone(...flags: string[]): Prepare {
  return (_stage, folder) => (remote) => async () => {
    const target = join(folder, 'clone.git');
    const url = await remote.url(APP);
    const time = await timed(() => git(folder, ['clone', '-q', '--bare', ...flags, url, target]));
    await rm(target, { recursive: true });
    return time;
  };
}

/**
 * Measures `git fetch`. The clone starts several commits behind the branch. Each round fetches the next commit along
 * the first parents.
 */
function openFetch({ fixture: { line, branch } }: Stage, folder: string): Side {
  const start = Math.min(STEPS, line.length - 1);
  const fetch = ['fetch', '-q', '--no-auto-maintenance', '--no-write-fetch-head'];
  return (remote, name) => async (round) => {
    const clone = join(folder, `${name}.git`);
    const url = await remote.url(APP);
    if (round === 0) {
      await git(folder, ['init', '-q', '--bare', clone]);
      await git(clone, [...fetch, url, `${line[start]}:refs/heads/${branch}`]);
    }
    const wanted = line[Math.max(start - 1 - round, 0)];
    return timed(() => git(clone, [...fetch, url, `${wanted}:refs/heads/${branch}`]));
  };
}

/**
 * Measures `git push` of one new commit per round. Pushes to repositories of its own, so that other benchmarks find
 * their repositories unchanged.
 */
async function openPushOne({ fixture, ours, nativeRoot }: Stage, folder: string, use: Use): Promise<Side> {
  const clone = join(folder, 'pushing.git');
  const target = 'push-target';
  await git(folder, ['clone', '-q', '--bare', fixture.path, clone]);
  await cp(fixture.path, join(nativeRoot, `${target}.git`), { recursive: true });
  await ours.seed(target, fixture);
  use({ [Symbol.asyncDispose]: () => ours.delete(target) });
  const commits = [fixture.line[0]!];
  return (remote) => async (round) => {
    for (let at = commits.length; at <= round + 1; at++) {
      const { commit } = await addCommit(clone, commits.at(-1)!, `bench-round-${at}.txt`, `round ${at}\n`);
      commits.push(commit);
    }
    const url = await remote.url(target);
    return timed(() => git(clone, ['push', '-q', url, `${commits[round + 1]}:refs/heads/bench-push`]));
  };
}

function openPushAll({ fixture, ours, nativeRoot }: Stage, folder: string): Side {
  const target = 'push-all';
  const repository = join(nativeRoot, `${target}.git`);
  return (remote, name) => async () => {
    if (name === 'ours') await ours.create(target, fixture.branch);
    else await initServerRepository(repository, fixture.branch);
    const url = await remote.url(target);
    const refs = ['refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'];
    const time = await timed(() => git(folder, ['--git-dir', fixture.path, 'push', '-q', url, ...refs]));
    if (name === 'ours') await ours.delete(target);
    else await rm(repository, { recursive: true });
    return time;
  };
}
