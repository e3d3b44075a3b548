import type { Report } from '../report/results.js';
import { readReport, UnreadableReport } from '../report/schema.js';
import { LARGE_FILE, readTextFile, UnreadableFile } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/** The result that a file holds. Throws `UsageError` where it holds none. */
export async function readResult(file: string): Promise<Report> {
  try {
    return readReport(await readLargeFile(file));
  } catch (error) {
    throw error instanceof UnreadableReport ? new UsageError(`${file} ${error.message}`) : error;
  }
}

/** Reads a file that a program wrote. Throws `UsageError`. */
export async function readLargeFile(file: string): Promise<string> {
  try {
    return await readTextFile(file, LARGE_FILE);
  } catch (error) {
    throw error instanceof UnreadableFile ? new UsageError(`${file} ${error.message}`) : error;
  }
}
