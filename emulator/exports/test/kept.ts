import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { bytesOf } from '../../git/object/bytes.js';
import type { Oid } from '../../git/object/object.js';
import { seed } from '../../sources/seed.js';
import type { CurrentWorld } from '../../world/current-world.js';
import { scratchWorld } from '../open-state.js';
import { Persistence } from '../persistence.js';

export function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'kept-folder-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Saves a world's state to a folder. The test decides when each save begins. */
export async function keep(t: Test, folder: string, current = scratchWorld()) {
  const pauses: number[] = [];
  const warnings: string[] = [];
  let go = (): void => {};
  let tellAsked = (): void => {};
  const untilAsked = () =>
    new Promise<void>((resolve) => {
      tellAsked = resolve;
    });
  const pause = (milliseconds: number, signal: AbortSignal) => {
    pauses.push(milliseconds);
    tellAsked();
    return new Promise<void>((resolve, reject) => {
      go = resolve;
      signal.addEventListener('abort', reject);
    });
  };
  const time = { now: 0 };
  const options = { folder, secrets: false, warn: (each: string) => warnings.push(each), pause, now: () => time.now };
  const { persistence, isNew } = await Persistence.open(current, options);
  t.teardown(() => current.close());
  const first = untilAsked();
  await persistence.begin();
  await first;
  /** Ends the current pause, so that the next save begins. Waits until the pause after that save. */
  const next = async () => {
    const asked = untilAsked();
    go();
    await asked;
  };
  return { current, persistence, isNew, pauses, warnings, next, time };
}

export const organization = 'scratch';

export function commit(current: CurrentWorld, name: string, files: Record<string, string>) {
  return seed(current.world, organization, name, files);
}

/** Creates refs in the repository `name` that point to its head commit. */
export async function addRefs({ world }: CurrentWorld, name: string, names: readonly string[]): Promise<void> {
  const { git, record } = world.state.repositories.find(organization, name)!;
  const oid = record.refs.headOid!;
  await git.transact(async (transaction) => {
    for (const each of names) transaction.update({ name: bytesOf(each), old: '0'.repeat(40) as Oid, new: oid });
  });
}

/** Returns the head commit, the number of refs, and the number of objects of each repository. */
export function shown({ world }: CurrentWorld): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { record, content } of world.state.repositories.list(organization))
    found[record.name] = `${record.refs.headOid} ${record.refs.size} ${content.objects.size}`;
  return found;
}

/** Loads a copy of the saved folder into a new world. Returns the result of `shown` for it. */
export async function read(folder: string): Promise<Record<string, string>> {
  const copy = `${folder}-copy`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith('/lock') });
  const current = scratchWorld();
  const { persistence } = await Persistence.open(current, { folder: copy, secrets: false, warn: () => {} });
  const found = shown(current);
  await persistence.abandon();
  await current.close();
  return found;
}

/**
 * Returns a text for each file, by path, with its inode, size and modification time. The text changes if the file is
 * rewritten.
 */
export function files(folder: string): Map<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    all.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const { ino, size, mtimeMs } = statSync(path);
      return [path.slice(folder.length + 1), `${ino} ${size} ${mtimeMs}`];
    }),
  );
}

/** Returns the paths that are new in `after` or were rewritten. Ignores the file `lock`. */
export const written = (before: Map<string, string>, after: Map<string, string>) =>
  [...after].filter(([path, mark]) => before.get(path) !== mark && path !== 'lock').map(([path]) => path);
