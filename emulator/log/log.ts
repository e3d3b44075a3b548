/** Structured log line. It never contains a header, token or body of a request. */
export interface LogLine {
  readonly event: string;
  readonly [member: string]: unknown;
}

export interface Log {
  write(line: LogLine): void;
}

/**
 * Log that prints internal errors to standard error and ignores all other lines. It is the default when the emulator is
 * used as a library.
 */
export const errorLog: Log = {
  write(line) {
    if (line.event === 'internal_error') process.stderr.write(formatError(line));
  },
};

function formatError({ event: _, stack, ...where }: LogLine): string {
  const known = Object.entries(where).filter(([, value]) => value !== undefined);
  const place = known.map(([name, value]) => ` ${name}=${String(value)}`).join('');
  const lines = `repohost-emulator: internal error${place}\n${String(stack)}`.split('\n');
  return lines.map((text) => `${printable(text)}\n`).join('');
}

/**
 * Returns the stack trace of an error, or the text of any other thrown value.
 *
 * `instanceof` is not used, because it fails in a VM context such as that of Jest. Errors of Node's modules are not
 * instances of the context's own `Error` class.
 *
 * @internal
 */
export function stackOf(error: unknown): string {
  return (error as Error | null | undefined)?.stack ?? String(error);
}

/**
 * Escapes the control and format characters of a text before it is printed. Without this, a path or name in a request
 * could control the user's terminal.
 *
 * @internal
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
