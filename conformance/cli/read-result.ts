import type { Report } from '../report/results.js';
import { readReport } from '../report/schema.js';
import { InvalidFile, LARGE_FILE, readTextFile } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/** Reads and parses a file. `parse` throws `InvalidFile`. Throws `UsageError`, which names the flag and the file. */
export async function readInput<Value>(
  file: string,
  parse: (text: string) => Value,
  { flag = '', limit }: { readonly flag?: string; readonly limit?: number } = {},
): Promise<Value> {
  try {
    return parse(await readTextFile(file, limit));
  } catch (error) {
    throw error instanceof InvalidFile ? new UsageError(`${flag}${file} ${error.message}`) : error;
  }
}

/** Reads the result of a run from a file. Throws `UsageError`. */
export function readResult(file: string): Promise<Report> {
  return readInput(file, readReport, { limit: LARGE_FILE });
}
