import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diffTrees } from '../../git/diff/diff.js';
import { Fsck } from '../../git/fsck/fsck.js';
import { indexPack } from '../../git/index-pack/index-pack.js';
import { readCommit } from '../../git/object/commit.js';
import { ObjectStore } from '../../git/odb/object-store.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { type Fixture, initServerRepository } from '../fixture.js';
import { countOutput, git } from '../native-git.js';
import { type Row, type Sides, timed } from '../row.js';
import type { Stage } from '../stage.js';

/** The object engine in this process, without a service around it: one job against one process of git. */
export const ENGINE_ROWS: readonly Row<Stage>[] = [
  {
    id: 'ingest',
    title: 'ingest of a pack, checked',
    peer: 'git index-pack --strict --threads=1',
    unit: 'ms',
    bar: 0.65,
    open: openIngest,
  },
  { id: 'diff-50', title: 'patches of 50 commits', peer: 'git log -p', unit: 'ms', bar: 0.8, open: openPatches },
];

async function openIngest({ fixture, folder }: Stage): Promise<Sides> {
  const pack = await readFile(fixture.packFile);
  const repository = join(folder, 'index-pack.git');
  // Outside of a repository `index-pack --strict` crashes.
  await initServerRepository(repository, fixture.branch);
  const index = join(folder, 'bench.idx');
  return {
    ours: () => timed(() => ingest(pack, fixture)),
    native: async () => {
      await rm(index, { force: true });
      return timed(() => git(repository, ['index-pack', '--strict', '--threads=1', '-o', index, fixture.packFile]));
    },
    close: () => rm(repository, { recursive: true }),
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
    native: () => timed(() => countOutput(fixture.path, log)),
  };
}

const PIECE = 64 * 1024;

/** Scan, deltas, hashes, fsck, connectivity: what a push costs once it has arrived. */
async function ingest(pack: Buffer, { refs }: Fixture): Promise<ObjectStore> {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const fsck = new Fsck();
  await indexPack(quarantine, piecesOf(pack), { thin: false, check: (...object) => fsck.check(...object) });
  fsck.finish(quarantine);
  await quarantine.checkConnectivity(refs.map(({ oid }) => oid));
  quarantine.publish();
  return store;
}

async function* piecesOf(pack: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < pack.length; at += PIECE) yield pack.subarray(at, at + PIECE);
}
