import { OptionError } from '../config/options.js';
import { readFlags, splitProgram } from './flags.js';
import { processTerminal, type Terminal } from './terminal.js';
import { Unreached, UsageError } from './usage-error.js';

/**
 * Runs `emulator <argv>` and resolves to the exit code: 0 for success, 2 for a usage error or a refusal by the
 * operating system, 3 if no emulator responds. Rejects with any unexpected error.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  try {
    const code = await run(argv, terminal);
    const error = await terminal.printed();
    // Ignores a pipe that the reader has closed early on purpose: `emulator routes | head -1`.
    if (error && error.code !== 'EPIPE') {
      throw new UsageError(`Standard output cannot be written: ${error.message}.`);
    }
    return code;
  } catch (error) {
    if (error instanceof Unreached) {
      terminal.warn(`${error.message}\n`);
      return 3;
    }
    if (!(error instanceof UsageError || error instanceof OptionError)) throw error;
    terminal.warn(`${error.message}\n`);
    return 2;
  }
}

async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [command, ...rest] = argv;
  // Parses the flags of `start` without loading yargs, because `start` must be fast.
  if (command === 'start' && !rest.includes('--help')) {
    const { runStart } = await import('./run-start.js');
    return runStart(readFlags(argv), terminal);
  }
  if (command === 'exec') {
    const [own, program] = splitProgram(argv);
    if (!own.includes('--help')) {
      const { EXEC, runExec } = await import('./run-exec.js');
      return runExec(readFlags(own, EXEC), program, terminal);
    }
  }
  if (command === 'record') {
    const [own, program] = splitProgram(argv);
    if (!own.includes('--help')) {
      const { RECORD, runRecord } = await import('./record/run-record.js');
      return runRecord(readFlags(own, RECORD), program, terminal);
    }
  }
  const { runCommands } = await import('./commands.js');
  return runCommands(argv, terminal);
}
