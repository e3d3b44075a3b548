import { once } from '../memory/once.js';
import { Output } from './output.js';

/** Where a command reads and writes. Commands know nothing else of the process. */
export interface Terminal {
  /** Standard output: results, and nothing but results. */
  print(text: string): void;
  /** Resolves once all that was printed has left; to the system's error where it could not. */
  printed(): Promise<NodeJS.ErrnoException | undefined>;
  /** Standard error: everything a pipe should not see. That it cannot be written can be told nowhere. */
  warn(text: string): void;
  /** Standard input to its end; of one that is longer than `most` characters, as many. */
  input(most: number): Promise<string>;
  /** Whether a person reads standard output. */
  readonly isInteractive: boolean;
  readonly columns: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The machine's time, in milliseconds. */
  now(): number;
}

/** The process's own streams. */
export function processTerminal(): Terminal {
  const output = new Output(process.stdout);
  const complaints = once(() => new Output(process.stderr));
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

async function readInput(most: number): Promise<string> {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) {
    text += String(part);
    if (text.length > most) break;
  }
  return text.slice(0, most);
}
