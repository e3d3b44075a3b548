import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../target/json.js';
import type { Target } from '../target/target.js';
import { LARGE_FILE, readTextFile, UnreadableFile } from '../target/text-file.js';

/** Default first part of the names of the repositories that a run creates. */
export const SCRATCH_PREFIX = 'cf';

/**
 * Returns a prefix for the names of all repositories of one run. Its 8 random hexadecimal digits prevent collisions
 * with the repositories of other runs.
 */
export function scratchPrefix(prefix = SCRATCH_PREFIX): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/**
 * Returns true if the name has the form of a repository name of a run: a prefix, a hyphen and 8 hexadecimal digits.
 * Cleanup deletes only repositories with such names.
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
 * Returns true if the process that created the repository of a journal entry is still running on this machine. The
 * repository must then not be deleted as a leftover. Returns false for a process of another machine, which cannot be
 * checked.
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
 * Repository that a run created, as one line of a scratch journal (file with such repositories, for their deletion).
 */
export interface ScratchEntry {
  readonly base_url: string;
  readonly org: string;
  readonly name: string;
  /** Time immediately before the creation of the repository, in RFC 3339 format. */
  readonly time: string;
  /** Id of the process that creates the repository, and host name of its machine; undefined if not recorded. */
  readonly pid?: number;
  readonly host?: string;
  /** Command-line words that name the target, without secrets; undefined if not recorded. */
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
 * Record of the repositories that a run created and has not deleted yet. Cleanup deletes them, even after an early end.
 */
export interface Scratch {
  /**
   * Records a name before the repository is created. Throws `ScratchFailure` if the name cannot be recorded. The caller
   * must then not create the repository, because nothing would delete it later.
   */
  add(name: string): Promise<void>;
  /** Removes the names of deleted repositories from the record. */
  remove(names: readonly string[]): Promise<void>;
  /** Returns the recorded names that were not removed. Their repositories probably still exist. */
  left(): readonly string[];
  /** Number of distinct names recorded so far, including names that were removed. */
  readonly made: number;
}

/**
 * Opens a record of the repositories that a run creates on a target, so that they can be deleted later. With a file
 * (scratch journal), each name is on disk before its repository is created, and several runs can share the file. Throws
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
  /** Path of the journal. Default: the names are kept only in memory and are lost when the process ends. */
  readonly file?: string;
  /**
   * Process and command-line words, written with each name. `gc` (command that deletes leftover repositories) uses them
   * to find the target, and to skip repositories of a run that is still active.
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
 * file cannot be read or if a line is not an entry.
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
 * Removes the entries of deleted repositories from a scratch journal. Deletes the file if no line remains. Keeps lines
 * that are not entries.
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
 * Writes or appends text to a file and flushes it to disk before the promise resolves, so that no name of a created
 * repository is lost in a crash.
 */
function writeSynced(file: string, flag: 'a' | 'w', text: string): Promise<void> {
  return writeFile(file, text, { flag, mode: 0o600, flush: true });
}

/**
 * Maximum number of waits for the lock of a journal, and milliseconds of each wait. The total is more than `LOCK_AGE`,
 * so that the lock of a dead process can expire meanwhile.
 */
const LOCK_TRIES = 600;
const LOCK_WAIT = 25;
/**
 * Age of a lock directory in milliseconds above which its process is considered dead, so that the lock may be removed.
 */
const LOCK_AGE = 10_000;

/**
 * Runs a function that changes a journal, under a lock that other processes respect. Without the lock, a line that one
 * process appends while another process rewrites the file would be lost.
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
