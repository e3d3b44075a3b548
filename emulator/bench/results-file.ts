import { appendFile, readFile } from 'node:fs/promises';
import type { Result } from './row.js';

/** One result, and where it was measured: a line of a file. */
export interface Entry {
  /** Facts of the machine and of what runs on it. */
  readonly machine: string;
  /** What was measured on: `SERVICE`, or the name of a repository. */
  readonly column: string;
  /** How much the repository holds. */
  readonly size: string;
  readonly result: Result;
}

/** The column of rows that need no repository. */
export const SERVICE = 'The service';

export async function appendEntry(file: string, entry: Entry): Promise<void> {
  await appendFile(file, `${JSON.stringify(entry)}\n`);
}

/** Throws a sentence when the file is not there or is none of these. A last line that was not written whole is left out. */
export async function readEntries(file: string): Promise<Entry[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${error.code}.`);
  });
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line, at) => {
    const entry = parse(line);
    if (!entry) throw new Error(`Line ${at + 1} of ${file} is no result of npm run bench.`);
    return entry;
  });
}

/** JSON has no NaN, and a median of nothing is not. */
function parse(line: string): Entry | undefined {
  try {
    const { machine, column, size, result } = JSON.parse(line) as Entry;
    const texts = [machine, column, size, result.id, result.title];
    const isResult = texts.every((each) => typeof each === 'string') && typeof result.bar === 'number';
    return isResult ? { machine, column, size, result: { ...result, ours: result.ours ?? Number.NaN } } : undefined;
  } catch {
    return undefined;
  }
}

/** Of several results of one row on one repository the last. */
export function joinEntries(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [keyOf(entry.column, entry.result.id), entry])).values()];
}

export function keyOf(column: string, id: string): string {
  return JSON.stringify([column, id]);
}
