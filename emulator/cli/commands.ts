import yargs from 'yargs';
import { packageVersion } from '../config/version.js';
import { caCommand } from './ca.js';
import { clockCommand } from './clock.js';
import type { Command } from './command.js';
import { credentialCommand } from './credential.js';
import { envCommand } from './env.js';
import { execCommand } from './exec.js';
import { exportCommand } from './export.js';
import { faultCommand } from './fault.js';
import { faultsCommand } from './faults.js';
import { healthCommand } from './health.js';
import { importCommand } from './import.js';
import { keysCommand } from './keys.js';
import { latchCommand } from './latch.js';
import { namespaceCommand } from './namespace.js';
import { optionsCommand } from './options.js';
import { quotaCommand } from './quota.js';
import { repoCommand } from './repo.js';
import { requestsCommand } from './requests.js';
import { resetCommand } from './reset.js';
import { routesCommand } from './routes.js';
import { scenarioCommand } from './scenario.js';
import type { Session } from './session.js';
import { snapshotCommand } from './snapshot.js';
import { startCommand } from './start.js';
import { stateCommand } from './state.js';
import { statusCommand } from './status.js';
import { stopCommand } from './stop.js';
import type { Terminal } from './terminal.js';
import { tokenCommand } from './token.js';
import { UsageError } from './usage-error.js';
import { variantsCommand } from './variants.js';
import { verifyCommand } from './verify.js';
import { waitCommand } from './wait.js';

export const commands: readonly Command[] = [
  startCommand,
  execCommand,
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

/** Every command but the quick way into `start`. Resolves to the exit code. Throws `UsageError`. */
export async function runCommands(argv: readonly string[], terminal: Terminal): Promise<number> {
  const session: Session = { argv, terminal, exitCode: 0 };
  const names = commands.map(({ name }) => name);
  const parser = yargs()
    .scriptName('emulator')
    .parserConfiguration({
      // `--no-repo` is a flag of its own, not a repo that is false.
      'boolean-negation': false,
      // `--repo.name` is no flag.
      'dot-notation': false,
      'camel-case-expansion': false,
    })
    .usage('$0 <command>\n\nA Git repository hosting service in one process, in memory.')
    .command(commands.map(({ module }) => module(session)))
    .completion('completion', 'Print a completion script for bash and zsh: source <(emulator completion)')
    .demandCommand(1, `Name a command: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`)
    .recommendCommands()
    .strict()
    .version(packageVersion())
    .help()
    .wrap(Math.min(110, terminal.columns))
    .exitProcess(false)
    .fail((message, error) => {
      // Without a message it is what a command threw.
      throw message ? new UsageError(usageSentence(message, argv[0], names)) : error;
    });
  await parser.parseAsync([...argv], {}, (_error, _parsed, output) => {
    if (output) terminal.print(`${output}\n`);
  });
  return session.exitCode;
}

/** Words a usage error. For an unknown command it lists the commands. */
function usageSentence(message: string, command: string | undefined, names: readonly string[]): string {
  const isKnown = command === undefined || command.startsWith('-') || names.includes(command);
  if (isKnown || command === 'completion') return oneSentence(message);
  const meant = message.startsWith('Did you mean') ? ` ${oneSentence(message)}` : '';
  return `There is no command ${JSON.stringify(command)}.${meant} There are ${names.join(', ')}.`;
}

function oneSentence(message: string): string {
  const line = message.split('\n', 1)[0]!.trim();
  return /[.?]$/.test(line) ? line : `${line}.`;
}
