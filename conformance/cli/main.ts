import yargs from 'yargs';
import { packageVersion } from '../run/version.js';
import type { Command, Session } from './command.js';
import { Output } from './output.js';
import { UsageError } from './usage-error.js';

/** Commands by name. Each is loaded on demand, because loading all commands takes longer than most commands run. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  probe: async () => (await import('./probe.js')).probeCommand,
  run: async () => (await import('./run.js')).runCommand,
  gc: async () => (await import('./gc.js')).gcCommand,
  report: async () => (await import('./report.js')).reportCommand,
  merge: async () => (await import('./merge.js')).mergeCommand,
  baseline: async () => (await import('./baseline.js')).baselineCommand,
  compare: async () => (await import('./compare.js')).compareCommand,
  matrix: async () => (await import('./matrix.js')).matrixCommand,
  'check-har': async () => (await import('./check-har.js')).checkHarCommand,
  variants: async () => (await import('./variants.js')).variantsCommand,
  list: async () => (await import('./list.js')).listCommand,
  explain: async () => (await import('./explain.js')).explainCommand,
  token: async () => (await import('./token.js')).tokenCommand,
  schema: async () => (await import('./schema.js')).schemaCommand,
};

/** Loads the command that the first argument names. Loads all commands if it names none. */
export function loadCommands([first = '']: readonly string[] = []): Promise<readonly Command[]> {
  const load = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return Promise.all((load === undefined ? Object.values(COMMANDS) : [load]).map((one) => one()));
}

const EPILOGUE = `Exit codes: 0 the target conforms; 1 rules are broken, or something was left or has changed; 2 the command, or a
file it was given, is wrong; 3 the target does not answer, is not the service, rejects the key, goes on throttling
or cannot delete what --write creates; 4 internal error of the suite, or something could not be written or deleted; 130 interrupted.

Every flag can be set by an environment variable: CONFORMANCE_KEY_ID for --key-id.`;

/** Standard output and standard error of the process, or a replacement in tests. */
interface Terminal extends Pick<Session, 'print' | 'warn'> {
  /** Resolves when all output is written, or could not be written. The value is the write error; undefined if none. */
  readonly printed: () => Promise<NodeJS.ErrnoException | undefined>;
}

/**
 * Runs `conformance <argv>`. Resolves to the exit code: 0 conformant, 1 rules broken, 2 usage error, 3 target not
 * ready, 4 internal error of the suite, 130 interrupted.
 */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const { print, warn } = terminal;
  const session: Session = { argv, print, warn, exitCode: 0 };
  try {
    await parse(session);
  } catch (error) {
    const { says, exitCode } = await describe(error);
    warn(`${says}\n`);
    session.exitCode = exitCode;
  }
  const lost = await terminal.printed();
  // Ignore a closed pipe: the reader may need only the first lines, as in `conformance list | head -1`.
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
  const names = Object.keys(COMMANDS);
  const commands = await loadCommands(session.argv);
  await yargs()
    .scriptName('conformance')
    .parserConfiguration({
      // Treat `--repo.name` as a flag whose name contains a dot. By default, yargs would make it a nested value.
      'dot-notation': false,
      'camel-case-expansion': false,
    })
    .usage('$0 <command>\n\nChecks a repository hosting service by its specification, rule by rule.')
    .command(commands.map(({ module }) => module(session)))
    .completion('completion', 'Print a completion script for bash and zsh: source <(conformance completion)')
    .version(packageVersion())
    .demandCommand(1, `Name a command: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`)
    .recommendCommands()
    .strict()
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .exitProcess(false)
    .fail((message, error) => {
      // Without a message from yargs, a command threw the error, so throw it unchanged.
      throw message ? new UsageError(usageSentence(message.split('\n', 1)[0]!, session.argv[0], names)) : error;
    })
    .epilogue(EPILOGUE)
    .help()
    .parseAsync([...session.argv], {}, (_error, _parsed, text) => {
      if (text) session.print(`${text}\n`);
    });
}

/** Formats a usage error. If the command is unknown, the text also lists the commands. */
function usageSentence(message: string, command: string | undefined, names: readonly string[]): string {
  const isKnown = command === undefined || command.startsWith('-') || names.includes(command);
  if (isKnown || command === 'completion') return message;
  const meant = message.startsWith('Did you mean') ? `; d${message.slice(1)} There` : '; there';
  return `there is no command ${JSON.stringify(command)}${meant} are ${names.join(', ')}`;
}

/**
 * Returns the message and exit code for an error. An internal error includes its stack; an error of the user or the
 * system is one line.
 */
async function describe(error: unknown): Promise<{ readonly says: string; readonly exitCode: number }> {
  if (error instanceof UsageError) return { says: error.message, exitCode: 2 };
  if (!(error instanceof Error)) return { says: String(error), exitCode: 4 };
  const { InvalidOption, ScratchFailure, Unready } = await import('../index.js');
  if (error instanceof Unready) return { says: error.message, exitCode: 3 };
  if (error instanceof InvalidOption) return { says: error.message, exitCode: 2 };
  const isForeseen = error instanceof ScratchFailure || 'syscall' in error;
  return { says: isForeseen ? error.message : (error.stack ?? error.message), exitCode: 4 };
}
