import { lazy } from '../memory/lazy.js';
import { Output } from './output.js';

/** Input and output of a command. Commands use this object instead of `process`, so that tests can replace it. */
export interface Terminal {
  /** Writes a result to standard output. Everything else goes to standard error. */
  print(text: string): void;
  /**
   * Resolves when all output was written. The result is the system error if something could not be written; otherwise
   * undefined.
   */
  printed(): Promise<NodeJS.ErrnoException | undefined>;
  /** Writes to standard error; for everything except results. Ignores write errors, because they cannot be reported. */
  warn(text: string): void;
  /** Reads standard input to its end, but at most `max` characters. */
  input(max: number): Promise<string>;
  /** True if standard output is a terminal. */
  readonly isInteractive: boolean;
  readonly columns: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** System time in milliseconds. */
  now(): number;
}

/** Returns a `Terminal` that uses the standard streams and the environment of this process. */
export function processTerminal(): Terminal {
  const output = new Output(process.stdout);
  const complaints = lazy(() => new Output(process.stderr));
  return {
    print: (text) => output.write(text),
    printed: () => output.flushed(),
    warn: (text) => complaints().writeLine(text),
    input: readInput,
    isInteractive: process.stdout.isTTY === true,
    columns: process.stdout.columns ?? 100,
    environment: process.env,
    now: () => Date.now(),
  };
}

async function readInput(max: number): Promise<string> {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) {
    text += String(part);
    if (text.length > max) break;
  }
  return text.slice(0, max);
}
