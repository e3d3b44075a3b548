/** Where a command reads and writes. Commands know nothing else of the process. */
export interface Terminal {
  /** Standard output: results, and nothing but results. */
  print(text: string): void;
  /** Standard error: everything a pipe should not see. */
  warn(text: string): void;
  /** Whether a person reads standard output. */
  readonly isInteractive: boolean;
  readonly columns: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The machine's time, in milliseconds. */
  now(): number;
}

/** The process's own streams. A reader that goes away (EPIPE) is no reason to stop serving. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    print: (text) => void process.stdout.write(text),
    warn: (text) => void process.stderr.write(text),
    isInteractive: process.stdout.isTTY === true,
    columns: process.stdout.columns ?? 100,
    environment: process.env,
    now: () => Date.now(),
  };
}
