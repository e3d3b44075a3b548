import { lstat } from 'node:fs/promises';
import type { Flags, Session, Values } from './command.js';
import { endWith, openOutputs } from './report-output.js';
import { UsageError } from './usage-error.js';
import { fileName } from './values.js';

/** The flags of commands that write a file for people to go on with. */
export const NEW_FILE_FLAGS = {
  output: { read: fileName, isFile: true, describe: 'File to write instead of standard output' },
  force: { describe: 'Write it also where there is one already' },
} satisfies Flags;

/** Looks whether the file may be written; gives what writes it, or prints where there is none. Throws `UsageError`. */
export async function openNewFile({ output, force }: Values<typeof NEW_FILE_FLAGS>) {
  const found = output === undefined ? undefined : await lstat(output).catch(() => undefined);
  if (found?.isFile() && !force) throw new UsageError(`${output} is there already; --force overwrites it`);
  const outputs = await openOutputs([{ name: 'file' }], output);
  return async (content: string, session: Session): Promise<void> =>
    endWith(session.exitCode, await outputs(() => content, session), session);
}
