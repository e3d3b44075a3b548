import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../target/json.js';
import type { Target } from '../target/target.js';
import { LARGE_FILE, readTextFile, UnreadableFile } from '../target/text-file.js';

/** What the names of a run's repositories begin with, unless it is told otherwise. */
export const SCRATCH_PREFIX = 'cf';

/** The first part of the names of one run; each run has its own. */
export function scratchPrefix(prefix = SCRATCH_PREFIX): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/**
 * Whether a run may have made a repository of that name.
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
 * Whether the run that made it still goes on, here: then it is not left behind.
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

/** A repository of a run, as a line of the journal tells of it. */
export interface ScratchEntry {
  readonly base_url: string;
  readonly org: string;
  readonly name: string;
  /** When it was going to be made: RFC 3339. */
  readonly time: string;
  /** The process that was going to make it, and the machine that runs it. */
  readonly pid?: number;
  readonly host?: string;
  /** The flags that name its target, as words; none of them is a secret. */
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

/** The repositories that a run made and did not remove yet. */
export interface Scratch {
  /** Notes a name, before the target is asked to make it. Throws `ScratchFailure`; then nothing may be made. */
  add(name: string): Promise<void>;
  /** Forgets names: they are gone. */
  remove(names: readonly string[]): Promise<void>;
  /** Names that are still there, for all that is known. */
  left(): readonly string[];
  /** Names noted so far, with those that are gone. */
  readonly made: number;
}

export interface ScratchOptions {
  readonly target: Pick<Target, 'baseUrl' | 'org'>;
  /** The journal. Without one the names are kept in memory, and lost with the process. */
  readonly file?: string;
  /** Written beside every name: what it takes to collect what is left. */
  readonly owner?: Pick<ScratchEntry, 'pid' | 'host' | 'flags'>;
  readonly now?: () => number;
}

/**
 * Opens the memory of what a run makes. With a file, every name is on the disk before its repository is asked for, and
 * several runs may share it. Throws `ScratchFailure` where the file cannot be written.
 *
 * ```js
 * const scratch = await openScratch({ target, file: 'made.jsonl' });
 * await run(target, { only: 'grep', scratch });
 * ```
 */
export async function openScratch({ target, file, owner, now = Date.now }: ScratchOptions): Promise<Scratch> {
  const journal = file === undefined ? undefined : new Journal(file);
  await journal?.open();
  const { baseUrl: base_url, org } = target;
  const names = new Set<string>();
  let made = 0;
  return {
    get made() {
      return made;
    },
    add: async (name) => {
      if (names.has(name)) return;
      await journal?.append({ base_url, org, name, time: new Date(now()).toISOString(), ...owner });
      names.add(name);
      made += 1;
    },
    remove: async (gone) => {
      for (const name of gone) names.delete(name);
      const set = new Set(gone);
      await journal?.drop((entry) => entry.base_url === base_url && entry.org === org && set.has(entry.name));
    },
    left: () => [...names],
  };
}

/**
 * The entries of a journal. Throws `ScratchFailure` where it is none.
 *
 * ```js
 * for (const { name, base_url } of await readScratch('made.jsonl')) console.log(`${base_url}/${name}`);
 * ```
 */
export function readScratch(file: string): Promise<readonly ScratchEntry[]> {
  return new Journal(file).read();
}

/** Forgets entries of a journal: what they name is gone. A journal without entries is removed. */
export function dropScratch(file: string, isGone: (entry: ScratchEntry) => boolean): Promise<void> {
  return new Journal(file).drop(isGone);
}

/** Together longer than a lock of a process that is gone counts. */
const LOCK_TRIES = 600;
const LOCK_WAIT = 25;
/** A lock that is older, in milliseconds, was left by a process that is gone. */
const LOCK_AGE = 10_000;

/** A file with one entry a line, as JSON. */
class Journal {
  constructor(readonly file: string) {}

  async open(): Promise<void> {
    await this.#try('written', async () => {
      await mkdir(dirname(this.file), { recursive: true });
      await (await open(this.file, 'a', 0o600)).close();
    });
  }

  append(entry: ScratchEntry): Promise<void> {
    return this.#try('written', () =>
      this.#locked(async () => {
        const handle = await open(this.file, 'a', 0o600);
        try {
          await handle.appendFile(`${JSON.stringify(entry)}\n`);
          await handle.sync();
        } finally {
          await handle.close();
        }
      }),
    );
  }

  async read(): Promise<readonly ScratchEntry[]> {
    const text = await this.#try('read', () => readTextFile(this.file, LARGE_FILE));
    return linesOf(text).map((line, index) => {
      const entry = parse(line);
      if (entry === undefined) throw new ScratchFailure(`${this.file}:${index + 1} is no entry of a scratch journal`);
      return entry;
    });
  }

  drop(isGone: (entry: ScratchEntry) => boolean): Promise<void> {
    return this.#try('written', () =>
      this.#locked(async () => {
        const kept = linesOf(await readTextFile(this.file, LARGE_FILE)).filter((line) => {
          const entry = parse(line);
          return entry === undefined || !isGone(entry);
        });
        if (kept.length === 0) return rm(this.file, { force: true });
        const next = `${this.file}.${process.pid}.next`;
        const handle = await open(next, 'w', 0o600);
        try {
          await handle.writeFile(kept.map((line) => `${line}\n`).join(''));
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(next, this.file);
      }),
    );
  }

  /** One process at a time: a line that is appended while the file is written anew would be lost. */
  async #locked<Value>(act: () => Promise<Value>): Promise<Value> {
    const lock = `${this.file}.lock`;
    for (let left = LOCK_TRIES; ; left--) {
      try {
        await mkdir(lock);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || left === 0) throw error;
        const made = await stat(lock).catch(() => undefined);
        if (made !== undefined && Date.now() - made.mtimeMs > LOCK_AGE)
          await rm(lock, { recursive: true, force: true });
        else await sleep(LOCK_WAIT);
      }
    }
    try {
      return await act();
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }

  async #try<Value>(done: string, act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      const message = error instanceof UnreadableFile ? error.reason : (error as Error).message;
      throw new ScratchFailure(`the scratch journal ${this.file} cannot be ${done}: ${message}`, { cause: error });
    }
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
