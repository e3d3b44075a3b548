import type { Terminal } from './terminal.js';

/** What a command's handler is given beside its arguments. */
export interface Session {
  /** The command line as it was typed. */
  readonly argv: readonly string[];
  readonly terminal: Terminal;
  /** Exit code of the process; 0 unless a command sets it. */
  exitCode: number;
}
