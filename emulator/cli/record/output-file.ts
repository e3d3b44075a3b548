import { randomBytes } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { systemErrorText } from '../../system/error-text.js';
import { UsageError } from '../usage-error.js';

/** New file that appears under its name when it is complete. Only this user can read it. */
export interface OutputFile {
  write(pieces: Iterable<string>): Promise<void>;
  /** Removes the incomplete file. */
  discard(): Promise<void>;
}

/**
 * Creates the file `name`, which must not exist, under a temporary name in the same folder. Throws `UsageError` if it
 * cannot be written, so that a command does not run for nothing.
 */
export async function openOutputFile(flag: string, name: string): Promise<OutputFile> {
  const found = await lstat(name).catch(() => undefined);
  if (found) throw new UsageError(`${flag}: ${name} exists already. Remove it, or choose another name.`);
  const draft = `${name}.${randomBytes(8).toString('hex')}.tmp`;
  const file = await open(draft, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(flag, name, error);
  });
  const discard = async () => {
    await file.close().catch(() => {});
    await rm(draft, { force: true });
  };
  return {
    discard,
    write: async (pieces) => {
      try {
        for (const piece of pieces) await file.write(piece);
        await file.sync();
        await file.close();
        await rename(draft, name);
      } catch (error) {
        await discard();
        throw unwritable(flag, name, error);
      }
    },
  };
}

function unwritable(flag: string, name: string, error: unknown): UsageError {
  return new UsageError(`${flag}: ${name} cannot be written: ${systemErrorText(error) ?? (error as Error).message}.`);
}
