import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Oid, parseOid } from '../git/object/object.js';
import { git } from './git.js';
import { historyStream } from './history-stream.js';

export interface Ref {
  readonly name: string;
  readonly oid: Oid;
}

/**
 * Bare Git repository for benchmarks, with all its objects in one pack. Also lists the ids of objects that the
 * benchmarks request.
 */
export interface Fixture {
  readonly path: string;
  readonly packFile: string;
  readonly packBytes: number;
  readonly objects: number;
  /** Name of the branch to which HEAD points. */
  readonly branch: string;
  /** All branches and tags, with the object ids to which they point. */
  readonly refs: readonly Ref[];
  /** Commit ids of `branch` along the first parents, newest first. */
  readonly line: readonly Oid[];
}

/**
 * Git configuration of the benchmark repositories. It prevents automatic repacking during a measurement, and makes Git
 * check pushed objects and accept filters.
 */
const SERVER_CONFIG: readonly (readonly [string, string])[] = [
  ['receive.fsckObjects', 'true'],
  ['gc.auto', '0'],
  ['repack.writeBitmaps', 'false'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['uploadpack.allowFilter', 'true'],
];

export async function initServerRepository(path: string, branch: string): Promise<void> {
  await git('.', ['init', '-q', '--bare', '-b', branch, path]);
  for (const [key, value] of SERVER_CONFIG) await git(path, ['config', key, value]);
}

export function generatedName(commits: number): string {
  return `generated, ${commits.toLocaleString('en')} commits`;
}

/**
 * Returns a repository with a generated history of `commits` commits. Creates it in `folder` if it does not exist yet.
 */
export function generatedFixture(folder: string, commits: number): Promise<Fixture> {
  const path = join(folder, `generated-${commits}.git`);
  return fixtureAt(path, 'main', async (draft) => {
    await git(draft, ['fast-import', '--quiet'], { input: historyStream(commits) });
    await packIntoOne(draft, '-f');
  });
}

/** Repository on disk: its path, and the name for it in the result tables. */
export interface RepositoryPlace {
  readonly name: string;
  readonly path: string;
}

/**
 * Returns a bare copy of a real repository with its branches and tags. Creates the copy in `folder` if it does not
 * exist yet. Only reads the real repository.
 */
export async function copiedFixture(folder: string, { name, path: source }: RepositoryPlace): Promise<Fixture> {
  const [head, tip] = [await git(source, ['symbolic-ref', 'HEAD']), await git(source, ['rev-parse', 'HEAD'])];
  const path = join(folder, `${name.replaceAll(/[^\w.-]/g, '-')}-${tip.slice(0, 12)}.git`);
  return fixtureAt(path, head.replace('refs/heads/', ''), async (draft) => {
    const settings = ['-c', 'fetch.unpackLimit=1', '-c', 'pack.threads=2'];
    const fetch = (...refs: string[]) =>
      git(draft, [...settings, 'fetch', '-q', '--no-write-fetch-head', source, ...refs]);
    // If the fetch of all branches and tags fails, fetch only the branch of HEAD. The source may lack objects of other
    // refs, for example in a partial clone.
    await fetch('+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*').catch(() => fetch(`+${head}:${head}`));
    await packIntoOne(draft);
  });
}

/**
 * Returns the repository at `path`, and creates it if necessary. Fills a temporary folder and renames it at the end, so
 * an interrupted run leaves no incomplete repository at `path`.
 */
async function fixtureAt(path: string, branch: string, fill: (draft: string) => Promise<void>) {
  if (!existsSync(path)) {
    const draft = `${path}.part`;
    await rm(draft, { recursive: true, force: true });
    await initServerRepository(draft, branch);
    await fill(draft);
    await rename(draft, path);
  }
  return describe(path, branch);
}

/**
 * Packs all objects of a repository into one pack, as maintenance at a hosting service does. Reuses existing deltas
 * unless the flag `-f` is given. A repository from fast-import needs `-f`, because its deltas are inefficient.
 */
async function packIntoOne(path: string, ...flags: string[]): Promise<void> {
  await git(path, ['repack', '-adq', '--threads=2', ...flags]);
  await git(path, ['pack-refs', '--all']);
}

async function describe(path: string, branch: string): Promise<Fixture> {
  const listed = await git(path, ['for-each-ref', '--format=%(objectname) %(refname)']);
  const refs = listed.split('\n').map((line) => ({ oid: parseOid(line.slice(0, 40)), name: line.slice(41) }));
  const packs = join(path, 'objects/pack');
  const pack = (await readdir(packs)).find((name) => name.endsWith('.pack'))!;
  const packFile = join(packs, pack);
  const header = (await readFile(packFile)).subarray(0, 12);
  const line = await git(path, ['rev-list', '--first-parent', '--max-count=600', 'HEAD']);
  return {
    path,
    packFile,
    packBytes: (await stat(packFile)).size,
    // A pack begins with "PACK", its version, and the number of objects, four bytes each (gitformat-pack(5)).
    objects: header.readUInt32BE(8),
    branch,
    refs,
    line: line.split('\n').map(parseOid),
  };
}

/**
 * Returns a commit for the `have` line of a fetch of `line[from]`. The fetch then gets at least `count` commits, if the
 * history is long enough, and only a few more. The commit is a first-parent ancestor of `line[from]`.
 */
export async function ancestorBehind({ path, line }: Fixture, from: number, count: number): Promise<string> {
  let low = from + 1;
  let high = Math.min(from + count, line.length - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    const between = Number(await git(path, ['rev-list', '--count', line[from]!, `^${line[middle]}`]));
    if (between >= count) high = middle;
    else low = middle + 1;
  }
  return line[low]!;
}
