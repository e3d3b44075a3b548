import type { Report } from '../report/results.js';
import { readReport } from '../report/schema.js';
import { InvalidFile, LARGE_FILE, readTextFile } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/** The value that a file holds. `parse` throws `InvalidFile`. Throws `UsageError`, which names `flag` and file. */
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

/** The result that a file holds. Throws `UsageError`. */
export function readResult(file: string): Promise<Report> {
  return readInput(file, readReport, { limit: LARGE_FILE });
}
