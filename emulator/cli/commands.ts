import yargs from 'yargs';
import { packageVersion } from '../config/version.js';
import type { Command, Session } from './command.js';
import { caCommand } from './commands/ca.js';
import { clockCommand } from './commands/clock.js';
import { credentialCommand } from './commands/credential.js';
import { envCommand } from './commands/env.js';
import { execCommand } from './commands/exec.js';
import { exportCommand } from './commands/export.js';
import { faultCommand } from './commands/fault.js';
import { faultsCommand } from './commands/faults.js';
import { healthCommand } from './commands/health.js';
import { importCommand } from './commands/import.js';
import { keysCommand } from './commands/keys.js';
import { latchCommand } from './commands/latch.js';
import { namespaceCommand } from './commands/namespace.js';
import { optionsCommand } from './commands/options.js';
import { quotaCommand } from './commands/quota.js';
import { recordCommand } from './commands/record.js';
import { repoCommand } from './commands/repo.js';
import { requestsCommand } from './commands/requests.js';
import { resetCommand } from './commands/reset.js';
import { routesCommand } from './commands/routes.js';
import { scenarioCommand } from './commands/scenario.js';
import { snapshotCommand } from './commands/snapshot.js';
import { startCommand } from './commands/start.js';
import { stateCommand } from './commands/state.js';
import { statusCommand } from './commands/status.js';
import { stopCommand } from './commands/stop.js';
import { tokenCommand } from './commands/token.js';
import { variantsCommand } from './commands/variants.js';
import { verifyCommand } from './commands/verify.js';
import { waitCommand } from './commands/wait.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

export const commands: readonly Command[] = [
  startCommand,
  execCommand,
  recordCommand,
  envCommand,
  caCommand,
  credentialCommand,
  tokenCommand,
  keysCommand,
  routesCommand,
  optionsCommand,
  variantsCommand,
  faultsCommand,
  waitCommand,
  healthCommand,
  statusCommand,
  stopCommand,
  resetCommand,
  clockCommand,
  snapshotCommand,
  requestsCommand,
  stateCommand,
  repoCommand,
  exportCommand,
  importCommand,
  faultCommand,
  latchCommand,
  quotaCommand,
  namespaceCommand,
  verifyCommand,
  scenarioCommand,
];

/**
 * Runs a command of `emulator` and resolves to its exit code. Throws `UsageError` for an invalid command line.
 * `main.ts` runs most uses of `start` without this function.
 */
export async function runCommands(argv: readonly string[], terminal: Terminal): Promise<number> {
  const session: Session = { argv, terminal, exitCode: 0 };
  const names = commands.map(({ name }) => name);
  const parser = yargs()
    .scriptName('emulator')
    .parserConfiguration({
      // Keeps `--no-repo` a flag of its own. Yargs would parse it as the negation of `--repo`.
      'boolean-negation': false,
      // Keeps `--repo.name` a flag of its own. Yargs would parse it as a member of an object `repo`.
      'dot-notation': false,
      'camel-case-expansion': false,
    })
    .usage('$0 <command>\n\nA Git repository hosting service in one process, in memory.')
    .command(commands.map(({ module }) => module(session)))
    .completion('completion', 'Print a completion script for bash and zsh: source <(emulator completion)')
    .demandCommand(1, `A command is required: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`)
    .recommendCommands()
    .strict()
    .version(packageVersion())
    .help()
    .wrap(Math.min(110, terminal.columns))
    .exitProcess(false)
    .fail((message, error) => {
      // Without a message from yargs, the error comes from a command and is thrown unchanged.
      throw message ? new UsageError(usageSentence(message, argv[0], names)) : error;
    });
  await parser.parseAsync([...argv], {}, (_error, _parsed, output) => {
    if (output) terminal.print(`${output}\n`);
  });
  return session.exitCode;
}

/**
 * Returns a one-sentence message for an error that yargs found. If the command is unknown, the message lists all
 * commands.
 */
function usageSentence(message: string, command: string | undefined, names: readonly string[]): string {
  const isKnown = command === undefined || command.startsWith('-') || names.includes(command);
  if (isKnown || command === 'completion') return oneSentence(message);
  const meant = message.startsWith('Did you mean') ? ` ${oneSentence(message)}` : '';
  return `Unknown command ${JSON.stringify(command)}.${meant} The commands are ${names.join(', ')}.`;
}

function oneSentence(message: string): string {
  const line = message.split('\n', 1)[0]!.trim();
  return /[.?]$/.test(line) ? line : `${line}.`;
}
