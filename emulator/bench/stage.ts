import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Workbench } from '../git/test/workbench.js';
import { lazy } from '../memory/lazy.js';
import { type Fixture, generatedFixture } from './fixture.js';
import { type LoneIngest, loneIngest } from './lone-ingest.js';
import { prepareFirstQuestions } from './questions.js';
import { type Remote, spawnEmulator, spawnPeer } from './remote.js';
import type { Use } from './row.js';

/** Name of the repository that contains the fixture on both servers. Benchmarks do not change its existing branches. */
export const APP = 'bench';

/**
 * Environment of the benchmarks of one repository: the emulator (`ours`) and `git http-backend` (`native`), each in its
 * own process and with a copy of the repository.
 */
export interface Stage {
  readonly fixture: Fixture;
  readonly ours: Remote;
  readonly native: Remote;
  /** Folder on disk that contains the repositories of the CGI server, which runs `git http-backend`. */
  readonly nativeRoot: string;
  /** Returns a function that warms up an emulator process, so that its code is compiled before a measurement. */
  readonly practice: () => Promise<Practice>;
  /**
   * Returns the stall times and the memory figures of one push and all first requests, measured on a separate emulator.
   * The measurement is done once, because several benchmarks use its results.
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

/** Number of commits of each repository that is used to warm up a process, and number of such repositories. */
const COMMITS = 1000;
const REPOSITORIES = 5;

/**
 * Warms up an emulator process with small repositories other than the measured one, as tests of a user do: pushes each
 * repository and sends each kind of first request once.
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
