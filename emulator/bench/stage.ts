import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from '../memory/once.js';
import type { Fixture } from './fixture.js';
import { type LoneIngest, loneIngest } from './lone-ingest.js';
import { type Practice, preparePractice } from './practice.js';
import { Remote } from './remote.js';
import { type ServerProcess, spawnEmulator, spawnPeer } from './server-process.js';

/** Name of the repository that is only read; both servers have it. */
export const APP = 'bench';

/** The emulator and `git http-backend`, each in a process of its own, each with the fixture. */
export interface Stage extends AsyncDisposable {
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

export async function openStage(fixture: Fixture, folder: string, histories: string): Promise<Stage> {
  const nativeRoot = join(folder, 'native');
  await mkdir(nativeRoot, { recursive: true });
  await cp(fixture.path, join(nativeRoot, `${APP}.git`), { recursive: true });
  const servers: ServerProcess[] = [await spawnEmulator(), await spawnPeer('cgi', nativeRoot)];
  const [ours, native] = servers.map(({ origin }) => new Remote(origin)) as [Remote, Remote];
  await ours.seed(APP, fixture);
  return {
    fixture,
    ours,
    native,
    nativeRoot,
    folder,
    practice: once(() => preparePractice(histories)),
    loneIngest: once(() => loneIngest(fixture)),
    async [Symbol.asyncDispose]() {
      for (const remote of [ours, native]) remote.client.close();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}
