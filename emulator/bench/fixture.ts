import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Oid, parseOid } from '../git/object/object.js';
import { historyStream } from './history/history-stream.js';
import { git } from './native-git.js';

export interface Ref {
  readonly name: string;
  readonly oid: Oid;
}

/** A bare repository of branches and tags in one pack, and what the rows ask about it. */
export interface Fixture {
  readonly label: string;
  readonly path: string;
  readonly packFile: string;
  readonly packBytes: number;
  readonly objects: number;
  readonly commits: number;
  /** The branch HEAD names. */
  readonly branch: string;
  /** Branches and tags. */
  readonly refs: readonly Ref[];
  /** The branch's tip and its first parents, newest first. */
  readonly line: readonly Oid[];
}

/** Git keeps out of the way: nothing is repacked behind the measurement, and both sides check what is pushed. */
export const SERVER_CONFIG: readonly (readonly [string, string])[] = [
  ['http.receivepack', 'true'],
  ['receive.fsckObjects', 'true'],
  ['receive.autogc', 'false'],
  ['gc.auto', '0'],
  ['repack.writeBitmaps', 'false'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['uploadpack.allowFilter', 'true'],
];

export async function initServerRepository(path: string, branch: string): Promise<void> {
  await git('.', ['init', '-q', '--bare', '-b', branch, path]);
  for (const [key, value] of SERVER_CONFIG) await git(path, ['config', key, value]);
}

/** The made-up history of `commits` commits, made in `folder` unless it is there already. */
export async function generatedFixture(folder: string, commits: number): Promise<Fixture> {
  const path = join(folder, `generated-${commits}.git`);
  if (!existsSync(path)) {
    const draft = `${path}.part`;
    await rm(draft, { recursive: true, force: true });
    await initServerRepository(draft, 'main');
    await git(draft, ['fast-import', '--quiet'], { input: historyStream({ commits }) });
    await packIntoOne(draft);
    await rename(draft, path);
  }
  return describe(path, `generated, ${commits.toLocaleString('en')} commits`);
}

/** A copy of a real repository's branches and tags; the repository itself is only read. */
export async function copiedFixture(folder: string, source: string): Promise<Fixture> {
  const path = join(folder, 'real.git');
  const head = await git(source, ['symbolic-ref', 'HEAD']);
  await rm(path, { recursive: true, force: true });
  await initServerRepository(path, head.replace('refs/heads/', ''));
  const fetch = (...refs: string[]) => git(path, ['fetch', '-q', '--no-write-fetch-head', source, ...refs]);
  // Of a mirror that lacks objects, its main branch may still be whole.
  await fetch('+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*').catch(() => fetch(`+${head}:${head}`));
  await packIntoOne(path);
  const name = source.split('/').findLast((part) => part !== '' && part !== 'repo' && part !== '.git') ?? source;
  return describe(path, name);
}

/** Loose objects and small packs into one, deltas chosen anew, as a hosting service's maintenance leaves it. */
async function packIntoOne(path: string): Promise<void> {
  await git(path, ['repack', '-adfq', '--threads=2']);
  await git(path, ['pack-refs', '--all']);
}

async function describe(path: string, label: string): Promise<Fixture> {
  const branch = (await git(path, ['symbolic-ref', 'HEAD'])).replace('refs/heads/', '');
  const listed = await git(path, ['for-each-ref', '--format=%(objectname) %(refname)']);
  const refs = listed.split('\n').map((line) => ({ oid: parseOid(line.slice(0, 40)), name: line.slice(41) }));
  const packs = join(path, 'objects/pack');
  const pack = (await readdir(packs)).find((name) => name.endsWith('.pack'))!;
  const packFile = join(packs, pack);
  const header = (await readFile(packFile)).subarray(0, 12);
  const line = await git(path, ['rev-list', '--first-parent', '--max-count=600', 'HEAD']);
  return {
    label,
    path,
    packFile,
    packBytes: (await stat(packFile)).size,
    // gitformat-pack: "PACK", version, number of objects; four bytes each.
    objects: header.readUInt32BE(8),
    commits: Number(await git(path, ['rev-list', '--count', '--all'])),
    branch,
    refs,
    line: line.split('\n').map(parseOid),
  };
}

/** A first parent of `line[from]` that at least `count` commits lie behind: `[have]`, for a fetch of about that many. */
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
