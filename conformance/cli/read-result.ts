import type { Report } from '../report/results.js';
import { readReport } from '../report/schema.js';
import { InvalidFile, LARGE_FILE, readTextFile } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/**
 * Reads and parses a text file. If `parse` throws `InvalidFile`, throws `UsageError` with the flag and the file name,
 * so that the user sees which input is wrong.
 */
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

/** Reads the JSON result of an earlier run from a file. Throws `UsageError` if the content is not a valid result. */
export function readResult(file: string): Promise<Report> {
  return readInput(file, readReport, { limit: LARGE_FILE });
}
