import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../target/json.js';
import type { Target } from '../target/target.js';
import { LARGE_FILE, readTextFile, UnreadableFile } from '../target/text-file.js';

/** Default beginning of the names of repositories that a run creates. */
export const SCRATCH_PREFIX = 'cf';

/**
 * Returns a prefix for the names of all repositories of one run. It has 8 random hexadecimal digits, which prevent
 * collisions with repositories of other runs.
 */
export function scratchPrefix(prefix = SCRATCH_PREFIX): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/**
 * Returns true if a repository name has the form that runs use: a prefix, a hyphen and 8 hexadecimal digits. Cleanup
 * deletes only repositories with such names.
 *
 * ```js
 * assert.equal(isScratchName('cf-0123abcd/notes'), true);
 * assert.equal(isScratchName('team/app'), false);
 * ```
 */
export function isScratchName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,31}-[0-9a-f]{8}(?:[/-].*)?$/s.test(name);
}

/**
 * Returns true if the process that created an entry's repository is still running on this machine. The repository is
 * then still in use and must not be deleted. Returns false for a process on another machine, which cannot be checked.
 *
 * ```js
 * const left = (await readScratch('made.jsonl')).filter((entry) => !isInUse(entry));
 * ```
 */
export function isInUse({ pid, host }: ScratchEntry): boolean {
  if (pid === undefined || host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * One line of a scratch journal: a repository that a run created. The journal is the file from which such repositories
 * are deleted later.
 */
export interface ScratchEntry {
  readonly base_url: string;
  readonly org: string;
  readonly name: string;
  /** Time just before the repository was created, in RFC 3339 format. */
  readonly time: string;
  /** Process id and host name of the process that created the repository. Undefined if not recorded. */
  readonly pid?: number;
  readonly host?: string;
  /** Command-line words that select the target. They contain no secrets. Undefined if not recorded. */
  readonly flags?: readonly string[];
}

/**
 * Thrown if a scratch journal (file with the repositories that runs created) cannot be read or written. The message
 * names the file and the reason.
 *
 * ```js
 * await assert.rejects(readScratch('target.yaml'), ScratchFailure);
 * ```
 */
export class ScratchFailure extends Error {
  override readonly name = 'ScratchFailure';
}

/**
 * Record of the repositories that a run created and has not deleted yet. Cleanup deletes them, even if the run ends
 * early.
 */
export interface Scratch {
  /**
   * Records a name before the repository is created. Throws `ScratchFailure` if that is impossible. The caller must
   * then not create the repository, because nothing would delete it later.
   */
  add(name: string): Promise<void>;
  /** Removes the names of deleted repositories from the record. */
  remove(names: readonly string[]): Promise<void>;
  /** Returns the recorded names that were not removed. These repositories probably still exist. */
  left(): readonly string[];
  /** Number of different names recorded so far, including removed names. */
  readonly made: number;
}

/**
 * Opens a record of the repositories that a run creates on a target, so that they can be deleted later. With a file
 * (scratch journal), each name is on disk before its repository is created. Several runs can share the file. Throws
 * `ScratchFailure` if the file cannot be written.
 *
 * ```js
 * const scratch = await openScratch({ target, file: 'made.jsonl' });
 * await run(target, { only: 'grep', scratch });
 * ```
 */
export async function openScratch({
  target,
  file,
  owner,
  now = Date.now,
}: {
  readonly target: Pick<Target, 'baseUrl' | 'org'>;
  /** Path of the scratch journal. By default, names are kept only in memory and are lost when the process ends. */
  readonly file?: string;
  /**
   * Process and command-line words that are written with each name. The command `gc`, which deletes leftover
   * repositories, uses them to find the target and to skip repositories of active runs.
   */
  readonly owner?: Pick<ScratchEntry, 'pid' | 'host' | 'flags'>;
  readonly now?: () => number;
}): Promise<Scratch> {
  if (file !== undefined) {
    await attempt(file, 'written', async () => {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, '', { flag: 'a', mode: 0o600 });
    });
  }
  const { baseUrl: base_url, org } = target;
  const names = new Set<string>();
  let made = 0;
  return {
    get made() {
      return made;
    },
    add: async (name) => {
      if (names.has(name)) return;
      const entry: ScratchEntry = { base_url, org, name, time: new Date(now()).toISOString(), ...owner };
      if (file !== undefined) await change(file, () => writeSynced(file, 'a', `${JSON.stringify(entry)}\n`));
      names.add(name);
      made += 1;
    },
    remove: async (gone) => {
      for (const name of gone) names.delete(name);
      const set = new Set(gone);
      const isGone = (entry: ScratchEntry) => entry.base_url === base_url && entry.org === org && set.has(entry.name);
      if (file !== undefined) await dropScratch(file, isGone);
    },
    left: () => [...names],
  };
}

/**
 * Reads the entries of a scratch journal (file with the repositories that runs created). Throws `ScratchFailure` if the
 * file cannot be read, or if a line is not an entry.
 *
 * ```js
 * for (const { name, base_url } of await readScratch('made.jsonl')) console.log(`${base_url}/${name}`);
 * ```
 */
export async function readScratch(file: string): Promise<readonly ScratchEntry[]> {
  const text = await attempt(file, 'read', () => readTextFile(file, LARGE_FILE));
  return linesOf(text).map((line, index) => {
    const entry = parse(line);
    if (entry === undefined) throw new ScratchFailure(`${file}:${index + 1} is not an entry of a scratch journal`);
    return entry;
  });
}

/**
 * Removes entries of deleted repositories from a scratch journal. Lines that are not entries are kept. Deletes the file
 * if no line remains.
 */
export function dropScratch(file: string, isGone: (entry: ScratchEntry) => boolean): Promise<void> {
  return change(file, async () => {
    const kept = linesOf(await readTextFile(file, LARGE_FILE)).filter((line) => {
      const entry = parse(line);
      return entry === undefined || !isGone(entry);
    });
    if (kept.length === 0) return rm(file, { force: true });
    const next = `${file}.${process.pid}.next`;
    await writeSynced(next, 'w', kept.map((line) => `${line}\n`).join(''));
    await rename(next, file);
  });
}

/**
 * Writes or appends text to a file and flushes it to disk before the promise resolves. A crash therefore loses no name
 * of a created repository.
 */
function writeSynced(file: string, flag: 'a' | 'w', text: string): Promise<void> {
  return writeFile(file, text, { flag, mode: 0o600, flush: true });
}

/**
 * Maximum number of waits for the lock of a journal, and milliseconds per wait. Their product exceeds `LOCK_AGE`, so
 * the lock of a dead process expires in this time.
 */
const LOCK_TRIES = 600;
const LOCK_WAIT = 25;
/**
 * Age in milliseconds above which a lock directory is considered abandoned by a dead process. It may then be removed.
 */
const LOCK_AGE = 10_000;

/**
 * Runs a function that changes a journal while holding a lock that other processes respect. Without the lock, a line
 * that one process appends would be lost when another process rewrites the file.
 */
function change(file: string, act: () => Promise<void>): Promise<void> {
  return attempt(file, 'written', async () => {
    const lock = `${file}.lock`;
    await takeLock(lock);
    try {
      await act();
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  });
}

async function takeLock(lock: string): Promise<void> {
  for (let left = LOCK_TRIES; ; left--) {
    try {
      await mkdir(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || left === 0) throw error;
      const made = await stat(lock).catch(() => undefined);
      if (made !== undefined && Date.now() - made.mtimeMs > LOCK_AGE) await rm(lock, { recursive: true, force: true });
      else await sleep(LOCK_WAIT);
    }
  }
}

async function attempt<Value>(file: string, done: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    const message = error instanceof UnreadableFile ? error.reason : (error as Error).message;
    throw new ScratchFailure(`the scratch journal ${file} cannot be ${done}: ${message}`, { cause: error });
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function parse(line: string): ScratchEntry | undefined {
  const { base_url, org, name, time, pid, host, flags } = (parseJson(line) ?? {}) as Record<string, unknown>;
  if (typeof base_url !== 'string' || typeof org !== 'string' || typeof name !== 'string') return undefined;
  return {
    ...{ base_url, org, name, time: typeof time === 'string' ? time : '' },
    ...(typeof pid === 'number' ? { pid } : {}),
    ...(typeof host === 'string' ? { host } : {}),
    ...(Array.isArray(flags) ? { flags: flags.map(String) } : {}),
  };
}
