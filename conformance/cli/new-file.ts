import { lstat } from 'node:fs/promises';
import type { Flags, Session, Values } from './command.js';
import { UsageError } from './usage-error.js';
import { text } from './values.js';
import { checkWritable, Unwritten, writeWhole } from './write-file.js';

/** The flags of commands that write a file for people to go on with. */
export const NEW_FILE_FLAGS = {
  output: { read: text('the name of a file'), isFile: true, describe: 'File to write instead of standard output' },
  force: { describe: 'Write it also where there is one already' },
} satisfies Flags;

/** Looks whether the file may be written; gives what writes it, or prints where there is none. Throws `UsageError`. */
export async function openNewFile({
  output,
  force,
}: Values<typeof NEW_FILE_FLAGS>): Promise<(content: string, session: Session) => Promise<void>> {
  if (output === undefined) return async (content, { print }) => print(content);
  const found = await lstat(output).catch(() => undefined);
  if (found?.isFile() && !force) throw new UsageError(`${output} is there already; --force overwrites it`);
  await checkWritable(output, '--output');
  return async (content, session) => {
    try {
      await writeWhole(output, content);
    } catch (error) {
      if (!(error instanceof Unwritten)) throw error;
      session.warn(`${error.message}\n`);
      session.exitCode = 4;
    }
  };
}
