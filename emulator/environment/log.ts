/** One structured line of the log: never a header, a token or a body. */
export interface LogLine {
  readonly event: string;
  readonly [member: string]: unknown;
}

export interface Log {
  write(line: LogLine): void;
}

export const silentLog: Log = { write() {} };

/** A path or a name from a request must not steer the reader's terminal. @internal */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
