import { OptionError } from '../config/options.js';
import { readFlags, splitProgram } from './flags.js';
import { processTerminal, type Terminal } from './terminal.js';
import { Unreached, UsageError } from './usage-error.js';

/**
 * Runs `emulator <argv>` and resolves to the exit code: 0 success, 2 usage error or refusal by the operating system, 3
 * no emulator responds. Rejects with any unexpected error.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  try {
    const code = await run(argv, terminal);
    const error = await terminal.printed();
    // A reader may close the pipe early on purpose: `emulator routes | head -1`.
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
  // `start` must be fast, so its flags are parsed by the table of options without loading yargs.
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
  const { runCommands } = await import('./commands.js');
  return runCommands(argv, terminal);
}
