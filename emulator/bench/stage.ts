import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Workbench } from '../git/test/workbench.js';
import { lazy } from '../memory/lazy.js';
import { type Fixture, generatedFixture } from './fixture.js';
import { type LoneIngest, loneIngest } from './lone-ingest.js';
import { prepareFirstQuestions } from './questions.js';
import { type Remote, spawnEmulator, spawnPeer } from './remote.js';
import type { Use } from './row.js';

/** Name of the read-only repository, which both servers have. */
export const APP = 'bench';

/** The emulator and `git http-backend`, each in a separate process, each with the fixture. */
export interface Stage {
  readonly fixture: Fixture;
  readonly ours: Remote;
  readonly native: Remote;
  /** Root folder of the CGI server's repositories. */
  readonly nativeRoot: string;
  /** Returns the function that warms up a process. */
  readonly practice: () => Promise<Practice>;
  /** Returns the results of one push and all first requests on a separate server. Several rows use them. */
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

/** Number of commits of a warm-up repository, and number of such repositories. */
const COMMITS = 1000;
const REPOSITORIES = 5;

/**
 * Warms up a process with other, small repositories, as tests do: pushes each one and sends every first request once.
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
