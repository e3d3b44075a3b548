import { readFile } from 'node:fs/promises';
import { UsageError } from './usage-error.js';

/** Reads what is in a file in YAML, of which JSON is a part. Throws `UsageError` that names `flag` and the file. */
export async function readDocument(flag: string, file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`${flag} cannot be read: ${JSON.stringify(file)} (${code}).`);
  }
  const { parse } = await import('yaml');
  try {
    return parse(text, { prettyErrors: true, logLevel: 'error' });
  } catch (error) {
    const [line] = (error as Error).message.split('\n', 1);
    throw new UsageError(`${flag} is neither JSON nor YAML: ${JSON.stringify(file)}: ${line!.replace(/[.:]$/, '')}.`);
  }
}
