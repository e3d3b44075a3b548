import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { IS_COMPLETE, sample } from '../../test/sample.js';
import { Fsck, FsckError } from '../fsck/fsck.js';
import { BLOB } from '../object/object.js';
import { ObjectStore } from '../odb/object-store.js';
import { generatedPacks, KNOWN } from '../odb/test/generated-packs.js';
import { inPieces } from '../odb/test/pack-builder.js';
import { PackError } from '../pack/pack-error.js';
import { writePack } from '../pack-objects/pack-writer.js';
import { GIT_ENVIRONMENT, ScratchGit } from '../test/workbench.js';
import { indexPack } from './index-pack.js';

// Compares this project with Git on packs with defects. `git index-pack --strict` and this project must accept the same
// packs. Git must accept the packs that this project sends.

const ROUNDS = Number(process.env.PACK_ROUNDS ?? 2);
const SEED = Number(process.env.PACK_SEED ?? 1);

t.setTimeout(600_000);

/** Defects that Git accepts but this project refuses on purpose, each with the reason. */
const STRICTER: readonly string[] = [
  // Git stores the pack, but `git cat-file` then refuses the object with "bad object header".
  'a size in more than 9 bytes',
];

/** Runs `git index-pack` on each file of a folder. Returns the names of the files that Git accepts. */
function takenByGit(folder: string, repository: string, options: string): Promise<Set<string>> {
  const script = `for pack in *; do
    mkdir "$0/$pack"
    GIT_OBJECT_DIRECTORY="$0/$pack" git index-pack --stdin ${options} < "$pack" > /dev/null 2>&1 && echo "$pack"
  done; true`;
  return new Promise((resolve, reject) => {
    const objects = join(repository, '.git', 'objects');
    const env = { ...GIT_ENVIRONMENT, GIT_DIR: join(repository, '.git'), GIT_ALTERNATE_OBJECT_DIRECTORIES: objects };
    const child = spawn('sh', ['-c', script, mkdtempSync(join(folder, '..', 'objects-'))], { cwd: folder, env });
    let output = '';
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
    child.on('error', reject);
    child.on('close', () => resolve(new Set(output.split('\n'))));
  });
}

/**
 * Receives a pack like a push. `served` has two packs with everything that a clone would receive, one for each kind of
 * delta. It is undefined if the pack is refused.
 */
async function take(pack: Buffer): Promise<{ reason: string; served?: Buffer[] }> {
  const store = new ObjectStore();
  const first = store.quarantine();
  first.write(BLOB, Buffer.from(KNOWN));
  first.publish();
  const fsck = new Fsck();
  using quarantine = store.quarantine();
  try {
    await indexPack(quarantine, inPieces(pack), { thin: true, check: (...object) => fsck.check(...object) });
    const missing = await quarantine.findMissing();
    if (missing !== undefined) return { reason: missing.message };
  } catch (error) {
    if (!(error instanceof PackError || error instanceof FsckError)) throw error;
    return { reason: error.message };
  }
  quarantine.publish();
  const served: Buffer[] = [];
  const numbers = Array.from({ length: store.size }, (_, number) => number);
  for (const ofsDelta of [true, false]) {
    const pieces: Buffer[] = [];
    for await (const piece of writePack(store, numbers, { ofsDelta })) pieces.push(Buffer.from(piece));
    served.push(Buffer.concat(pieces));
  }
  return { reason: '', served };
}

t.test('packs with defects are taken and refused as by git, and served in packs that git takes', async (t) => {
  using git = new ScratchGit();
  git.add('blob', KNOWN);
  const folder = mkdtempSync(join(tmpdir(), 'generated-packs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [received, served] = [join(folder, 'received'), join(folder, 'served')];
  mkdirSync(received);
  mkdirSync(served);
  const packs = sample(t, [...generatedPacks(SEED, ROUNDS)], 100);
  for (const [index, { bytes }] of packs.entries()) writeFileSync(join(received, `${index}`), bytes);
  const asked = takenByGit(received, git.path, '--strict --fix-thin');
  const outcomes = [];
  for (const [index, { bytes }] of packs.entries()) {
    const outcome = await take(bytes);
    outcomes.push(outcome);
    for (const [way, pack] of outcome.served?.entries() ?? []) writeFileSync(join(served, `${index}-${way}`), pack);
  }
  const taken = await asked;
  const readable = await takenByGit(served, git.path, '--strict');
  const differences: string[] = [];
  for (const [index, { name }] of packs.entries()) {
    const { reason, served } = outcomes[index]!;
    const isTaken = taken.has(`${index}`);
    const isStricter = STRICTER.some((defect) => name.startsWith(defect));
    if (isTaken && served === undefined && !isStricter) differences.push(`${name}: refused (${reason}), taken by git`);
    if (!isTaken && served !== undefined) differences.push(`${name}: taken, refused by git`);
    for (const way of served?.keys() ?? []) {
      if (!readable.has(`${index}-${way}`)) differences.push(`${name}: served in a pack that git refuses`);
    }
  }
  t.same(differences, []);
  const [min, max] = IS_COMPLETE ? [0.1, 0.5] : [0.02, 0.8];
  t.ok(taken.size > packs.length * min && taken.size < packs.length * max, `${taken.size} of ${packs.length} taken`);
});
