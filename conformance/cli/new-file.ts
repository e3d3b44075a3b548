import { lstat } from 'node:fs/promises';
import type { Flags, Session, Values } from './command.js';
import { endWith, openOutputs } from './report-output.js';
import { UsageError } from './usage-error.js';
import { fileName } from './values.js';

/** Flags of commands that create a file for users to edit, such as a baseline. */
export const NEW_FILE_FLAGS = {
  output: { read: fileName, isFile: true, describe: 'File to write instead of standard output' },
  force: { describe: 'Overwrite an existing file' },
} satisfies Flags;

/**
 * Checks that the `--output` file may be written, and returns a function that writes it. Without a file, the function
 * writes to standard output. Throws `UsageError` if the file exists and `--force` is absent, or if the file cannot be
 * written.
 */
export async function openNewFile({ output, force }: Values<typeof NEW_FILE_FLAGS>) {
  const found = output === undefined ? undefined : await lstat(output).catch(() => undefined);
  if (found?.isFile() && !force) throw new UsageError(`${output} already exists; --force overwrites it`);
  const outputs = await openOutputs([{ name: 'file' }], output);
  return async (content: string, session: Session): Promise<void> =>
    endWith(session.exitCode, await outputs(() => content, session), session);
}
