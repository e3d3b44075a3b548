/** One structured line of the log: never a header, a token or a body. */
export interface LogLine {
  readonly event: string;
  readonly [member: string]: unknown;
}

export interface Log {
  write(line: LogLine): void;
}

export const silentLog: Log = { write() {} };
