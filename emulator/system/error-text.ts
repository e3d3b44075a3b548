import { getSystemErrorMap } from 'node:util';

/**
 * Returns the text of an error of the operating system, such as `no such file or directory`. If the error has a code
 * without a text, returns the code. Returns undefined for any other kind of error.
 */
export function systemErrorText(error: unknown): string | undefined {
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return undefined;
  return getSystemErrorMap().get(errno ?? 0)?.[1] ?? code;
}
