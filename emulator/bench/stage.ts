import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from '../memory/once.js';
import { type Fixture, generatedFixture } from './fixture.js';
import { type LoneIngest, loneIngest } from './lone-ingest.js';
import { prepareFirstQuestions } from './questions.js';
import { type Remote, spawnEmulator, spawnPeer } from './remote.js';
import type { Use } from './row.js';

/** Name of the repository that is only read; both servers have it. */
export const APP = 'bench';

/** The emulator and `git http-backend`, each in a process of its own, each with the fixture. */
export interface Stage {
  readonly fixture: Fixture;
  readonly ours: Remote;
  readonly native: Remote;
  /** Where the CGI finds its repositories. */
  readonly nativeRoot: string;
  /** For whatever rows make. */
  readonly folder: string;
  /** For processes that have served before. */
  readonly practice: () => Promise<Practice>;
  /** One push and all first questions, alone on a server: several rows tell of it. */
  readonly loneIngest: () => Promise<LoneIngest>;
}

export async function openStage(fixture: Fixture, folder: string, histories: string, use: Use): Promise<Stage> {
  const nativeRoot = join(folder, 'native');
  await mkdir(nativeRoot, { recursive: true });
  await cp(fixture.path, join(nativeRoot, `${APP}.git`), { recursive: true });
  const ours = use(await spawnEmulator());
  const native = use(await spawnPeer('cgi', nativeRoot));
  await ours.seed(APP, fixture);
  await native.token(APP);
  const practice = once(() => preparePractice(histories));
  return { fixture, ours, native, nativeRoot, folder, practice, loneIngest: once(() => loneIngest(fixture)) };
}

/** Commits of a repository that a process has served before, and how many such repositories. */
const COMMITS = 1000;
const REPOSITORIES = 5;

/** Has a process serve other, small repositories, as it does tests: each is pushed and asked every first question once. */
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
