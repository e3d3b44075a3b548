import { allRules, type BaselineEntry, readBaseline } from '../index.js';
import { InvalidFile } from '../target/structured-file.js';
import { readTextFile, UnreadableFile } from '../target/text-file.js';
import { UsageError } from './usage-error.js';

/** The expected failures that a file names. Throws `UsageError`. */
export async function readBaselineFile(file: string): Promise<readonly BaselineEntry[]> {
  try {
    return readBaseline(await readTextFile(file), new Set(allRules().map(({ id }) => id)));
  } catch (error) {
    if (error instanceof UnreadableFile || error instanceof InvalidFile) {
      throw new UsageError(`--baseline: ${file} ${error.message}`);
    }
    throw error;
  }
}
