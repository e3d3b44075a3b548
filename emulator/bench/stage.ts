import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Workbench } from '../git/test/workbench.js';
import { lazy } from '../memory/lazy.js';
import { type Fixture, generatedFixture } from './fixture.js';
import { type LoneIngest, loneIngest } from './lone-ingest.js';
import { prepareFirstQuestions } from './questions.js';
import { type Remote, spawnEmulator, spawnPeer } from './remote.js';
import type { Use } from './row.js';

/**
 * Name of the repository with the fixture's content on both servers. Benchmarks do not change its existing branches.
 */
export const APP = 'bench';

/**
 * Environment for the benchmarks of one repository. The emulator (`ours`) and `git http-backend` (`native`) each run in
 * their own process, with a copy of the repository.
 */
export interface Stage {
  readonly fixture: Fixture;
  readonly ours: Remote;
  readonly native: Remote;
  /** Folder with the repositories of the CGI server that runs `git http-backend`. */
  readonly nativeRoot: string;
  /** Returns a function that warms up an emulator process, so that its code is compiled before a measurement. */
  readonly practice: () => Promise<Practice>;
  /**
   * Returns the stall times and memory figures of one push and all kinds of first requests, on a separate emulator.
   * Measured only once, because several benchmarks use the results.
   */
  readonly loneIngest: () => Promise<LoneIngest>;
}

export async function openStage(fixture: Fixture, histories: string, use: Use): Promise<Stage> {
  const { path: nativeRoot } = use(await Workbench.create());
  await cp(fixture.path, join(nativeRoot, `${APP}.git`), { recursive: true });
  const ours = use(await spawnEmulator());
  const native = use(await spawnPeer('cgi', nativeRoot));
  await ours.seed(APP, fixture);
  await native.token(APP);
  const practice = lazy(() => preparePractice(histories));
  return { fixture, ours, native, nativeRoot, practice, loneIngest: lazy(() => loneIngest(fixture)) };
}

/** Size and number of the repositories that warm up a process: commits per repository, and repositories. */
const COMMITS = 1000;
const REPOSITORIES = 5;

/**
 * Warms up an emulator process with small repositories, as a user's earlier tests would. Pushes each repository and
 * sends each kind of first request once. The measured repository is not among them.
 */
export type Practice = (remote: Remote) => Promise<void>;

async function preparePractice(histories: string): Promise<Practice> {
  const fixture = await generatedFixture(histories, COMMITS);
  const rounds = Array.from({ length: REPOSITORIES }, (_, round) => prepareFirstQuestions(fixture, round));
  const prepared = await Promise.all(rounds);
  return async (remote) => {
    for (const [round, ask] of prepared.entries()) {
      const repo = `practice-${round}`;
      await remote.seed(repo, fixture);
      await ask(remote, repo);
    }
  };
}
