import yargs from 'yargs';
import { InvalidOption, ScratchFailure, Unready } from '../index.js';
import { baselineCommand } from './baseline.js';
import { checkHarCommand } from './check-har.js';
import type { Command, Session } from './command.js';
import { compareCommand } from './compare.js';
import { explainCommand } from './explain.js';
import { gcCommand } from './gc.js';
import { listCommand } from './list.js';
import { mergeCommand } from './merge.js';
import { Output } from './output.js';

import { probeCommand } from './probe.js';
import { reportCommand } from './report.js';
import { runCommand } from './run.js';
import { schemaCommand } from './schema.js';
import { tokenCommand } from './token.js';
import { UsageError } from './usage-error.js';
import { variantsCommand } from './variants.js';

export const commands: readonly Command[] = [
  probeCommand,
  runCommand,
  gcCommand,
  reportCommand,
  mergeCommand,
  baselineCommand,
  compareCommand,
  checkHarCommand,
  variantsCommand,
  listCommand,
  explainCommand,
  tokenCommand,
  schemaCommand,
];

const EPILOGUE = `Exit codes: 0 the target conforms; 1 rules are broken, or something was left or has changed; 2 the command, or a
file it was given, is wrong; 3 the target does not answer, rejects the key or goes on throttling; 4 the suite itself
broke, or something could not be written; 130 interrupted.

Every flag can stand in the environment: CONFORMANCE_KEY_ID for --key-id.`;

/** Standard output and standard error. */
interface Terminal extends Pick<Session, 'print' | 'warn'> {
  /** Resolves once all that was printed has left; to the system's error where it could not. */
  readonly printed: () => Promise<NodeJS.ErrnoException | undefined>;
}

/**
 * Runs `conformance <argv>` and resolves to the exit code: 0 conformant, 1 rules broken, 2 usage, 3 target, 4 the suite
 * itself, 130 interrupted.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const { print, warn } = terminal;
  const session: Session = { argv, print, warn, exitCode: 0 };
  try {
    await parse(session);
  } catch (error) {
    warn(describe(error));
    session.exitCode = exitCodeOf(error);
  }
  const lost = await terminal.printed();
  // A reader that goes away has what it wanted: `conformance list | head -1`.
  if (lost === undefined || lost.code === 'EPIPE') return session.exitCode;
  warn(`standard output cannot be written: ${lost.message}\n`);
  return 4;
}

function processTerminal(): Terminal {
  const output = new Output(process.stdout);
  const complaints = new Output(process.stderr);
  return {
    print: (text) => output.write(text),
    printed: () => output.flushed(),
    warn: (text) => complaints.write(text),
  };
}

async function parse(session: Session): Promise<void> {
  const names = commands.map(({ name }) => name);
  await yargs()
    .scriptName('conformance')
    .parserConfiguration({
      // `--repo.name` is no flag.
      'dot-notation': false,
      'camel-case-expansion': false,
    })
    .usage('$0 <command>\n\nJudges a repository hosting service by its specification, rule by rule.')
    .command(commands.map(({ module }) => module(session)))
    .demandCommand(1, `Name a command: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`)
    .recommendCommands()
    .strict()
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .exitProcess(false)
    .fail((message, error) => {
      // Without a message it is what a command threw.
      throw message ? new UsageError(message.split('\n', 1)[0]) : error;
    })
    .epilogue(EPILOGUE)
    .help()
    .parseAsync([...session.argv], {}, (_error, _parsed, text) => {
      if (text) session.print(`${text}\n`);
    });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof Unready) return 3;
  return error instanceof UsageError || error instanceof InvalidOption ? 2 : 4;
}

const FORESEEN = [UsageError, Unready, InvalidOption, ScratchFailure];

/** What the caller or the system did wrong is one line; a mistake of the suite says where it is. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}\n`;
  const isForeseen = FORESEEN.some((kind) => error instanceof kind) || 'syscall' in error;
  return `${isForeseen ? error.message : (error.stack ?? error.message)}\n`;
}
