import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fsck } from '../../git/fsck/fsck.js';
import { ObjectStore } from '../../git/store/object-store.js';
import { type Fixture, initServerRepository } from '../fixture.js';
import { git } from '../native-git.js';
import { type Row, timed } from '../row.js';
import type { Stage } from '../stage.js';

const PIECE = 64 * 1024;

/** Taking a whole pack in: scan, deltas, hashes, fsck, connectivity. In this process, as the emulator does it. */
export const INGEST_ROW: Row<Stage> = {
  id: 'ingest',
  title: 'ingest of a pack, checked',
  peer: 'git index-pack --strict --threads=1',
  unit: 'ms',
  bar: 0.65,
  open: async ({ fixture, folder }) => {
    const pack = await readFile(fixture.packFile);
    const repository = join(folder, 'index-pack.git');
    // Outside of a repository `index-pack --strict` crashes.
    await initServerRepository(repository, fixture.branch);
    const command = ['index-pack', '--strict', '--threads=1', '-o', join(folder, 'bench.idx'), fixture.packFile];
    return {
      ours: () => timed(() => ingest(pack, fixture)),
      native: async () => {
        await rm(join(folder, 'bench.idx'), { force: true });
        return timed(() => git(repository, command));
      },
      close: () => rm(repository, { recursive: true }),
    };
  },
};

async function ingest(pack: Buffer, { refs }: Fixture): Promise<void> {
  const quarantine = new ObjectStore().quarantine();
  const fsck = new Fsck();
  await quarantine.ingest(piecesOf(pack), { thin: false, check: (type, body, oid) => fsck.check(type, body, oid) });
  fsck.finish(quarantine);
  await quarantine.checkConnectivity(refs.map(({ oid }) => oid));
  quarantine.publish();
}

async function* piecesOf(pack: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < pack.length; at += PIECE) yield pack.subarray(at, at + PIECE);
}
