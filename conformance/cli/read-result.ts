import { readFile } from 'node:fs/promises';
import type { Report } from '../report/results.js';
import { readReport, UnreadableReport } from '../report/schema.js';
import { UsageError } from './usage-error.js';

/** The result that a file holds. Throws `UsageError` where it holds none. */
export async function readResult(file: string): Promise<Report> {
  try {
    return readReport(await readTextFile(file));
  } catch (error) {
    throw error instanceof UnreadableReport ? new UsageError(`${file} ${error.message}`) : error;
  }
}

/** The text of a file that an argument names. Throws `UsageError`. */
export async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${file} cannot be read: ${WHY[code ?? ''] ?? message}`);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ERR_FS_FILE_TOO_LARGE: 'it is larger than 2 GiB',
  ERR_STRING_TOO_LONG: 'it is larger than 512 MiB',
};
