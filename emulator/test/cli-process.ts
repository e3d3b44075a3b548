import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

const bin = fileURLToPath(new URL('../../../bin/emulator.js', import.meta.url));

const COMMAND: readonly string[] = [process.execPath, ...process.execArgv, bin];

/** Command that runs the published `emulator` program, quoted for a shell. */
export const EMULATOR = COMMAND.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

type Stream = 'pipe' | number;

export interface CliProcess extends ChildProcess {
  readonly said: { out: string; err: string };
}

/**
 * Starts `emulator <argv>` as a child process, and kills it at the end of the test. `streams.out` and `streams.err` can
 * be file descriptors for standard output and error. `streams.env` adds environment variables.
 */
export function spawnCli(
  test: Test,
  argv: readonly string[],
  streams: { out?: Stream; err?: Stream; env?: NodeJS.ProcessEnv } = {},
): CliProcess {
  const [node, ...args] = [...COMMAND, ...argv];
  const child = spawn(node!, args, {
    stdio: ['ignore', streams.out ?? 'pipe', streams.err ?? 'pipe'],
    env: { ...process.env, ...streams.env },
  });
  test.teardown(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout?.on('data', (part) => {
    said.out += part;
  });
  child.stderr?.on('data', (part) => {
    said.err += part;
  });
  return Object.assign(child, { said });
}

/** Waits until a child process has ended and all its output has arrived. Resolves to its exit code and signal. */
export async function ended(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  const [code, signal] = await once(child, 'close');
  return [code, signal];
}

export async function untilReady(child: CliProcess): Promise<{
  readonly base_url: string;
  readonly pid: number;
  readonly admin_token_file?: string;
}> {
  while (!child.said.out.includes('\n')) {
    await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${child.said.err}`);
  }
  return JSON.parse(child.said.out);
}
