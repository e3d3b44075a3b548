import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fixture } from './fixture.js';
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
}

export async function openStage(fixture: Fixture, folder: string): Promise<Stage> {
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
    async [Symbol.asyncDispose]() {
      for (const remote of [ours, native]) remote.client.close();
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}
