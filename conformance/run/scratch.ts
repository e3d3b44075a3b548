import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../target/json.js';
import type { Target } from '../target/target.js';
import { LARGE_FILE, readTextFile, UnreadableFile } from '../target/text-file.js';

/** Default prefix of the names of the repositories of a run. */
export const SCRATCH_PREFIX = 'cf';

/** Prefix of the repository names of one run; it contains a random part. */
export function scratchPrefix(prefix = SCRATCH_PREFIX): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/**
 * Returns true if a run may have created a repository of this name.
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
 * Returns true if the run that created the entry is still active on this machine. Its repositories are then not left
 * over.
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

/** Repository of a run, as one line of the journal. */
export interface ScratchEntry {
  readonly base_url: string;
  readonly org: string;
  readonly name: string;
  /** RFC 3339 time before its creation. */
  readonly time: string;
  /** Id of the process that creates it, and host name of its machine. */
  readonly pid?: number;
  readonly host?: string;
  /** Command-line words that name the target; they contain no secret. */
  readonly flags?: readonly string[];
}

/**
 * The journal cannot be read or written; the message is a sentence.
 *
 * ```js
 * await assert.rejects(readScratch('target.yaml'), ScratchFailure);
 * ```
 */
export class ScratchFailure extends Error {
  override readonly name = 'ScratchFailure';
}

/** Record of the repositories that a run created and has not removed yet. */
export interface Scratch {
  /**
   * Notes a name before the repository is created. Throws `ScratchFailure`; the repository must not be created then.
   */
  add(name: string): Promise<void>;
  /** Removes the names of deleted repositories. */
  remove(names: readonly string[]): Promise<void>;
  /** Names of repositories that still exist, as far as known. */
  left(): readonly string[];
  /** Number of names noted so far, including deleted ones. */
  readonly made: number;
}

/**
 * Opens the record of created repositories. With a file, every name is on disk before its repository is requested, and
 * several runs can share the file. Throws `ScratchFailure` if the file cannot be written.
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
  /** Journal file. Without it, the names are kept in memory and lost with the process. */
  readonly file?: string;
  /** Written with every name, so that `gc` can find the target and the process. */
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
 * Reads the entries of a journal. Throws `ScratchFailure` if it is not one.
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

/** Removes entries of deleted repositories from a journal. Deletes the file if no entry remains. */
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

/** Writes a text. Resolves when it is on disk. */
function writeSynced(file: string, flag: 'a' | 'w', text: string): Promise<void> {
  return writeFile(file, text, { flag, mode: 0o600, flush: true });
}

/** Number of attempts to take the lock, and milliseconds between them. Together they take longer than `LOCK_AGE`. */
const LOCK_TRIES = 600;
const LOCK_WAIT = 25;
/** Age in milliseconds after which a lock is considered left over by a dead process. */
const LOCK_AGE = 10_000;

/** Changes a journal under a lock, because a line appended while the file is rewritten would be lost. */
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
