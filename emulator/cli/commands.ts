import yargs from 'yargs';
import { packageVersion } from '../version.js';
import { healthCommand } from './health.js';
import { keysCommand } from './keys.js';
import { routesCommand } from './routes.js';
import type { Session } from './session.js';
import { startCommand } from './start.js';
import type { Terminal } from './terminal.js';
import { tokenCommand } from './token.js';
import { UsageError } from './usage-error.js';
import { variantsCommand } from './variants.js';
import { waitCommand } from './wait.js';

/** Every command but the quick way into `start`. Resolves to the exit code. Throws `UsageError`. */
export async function runCommands(argv: readonly string[], terminal: Terminal): Promise<number> {
  const session: Session = { terminal, exitCode: 0 };
  const parser = yargs()
    .scriptName('emulator')
    // `--no-repo` is a flag of its own, not a repo that is false.
    .parserConfiguration({ 'boolean-negation': false })
    .usage('$0 <command>\n\nA Git repository hosting service in one process, in memory.')
    .command(startCommand(session))
    .command(tokenCommand(session))
    .command(keysCommand(session))
    .command(routesCommand(session))
    .command(variantsCommand(session))
    .command(waitCommand(session))
    .command(healthCommand(session))
    .demandCommand(1, 'Name a command: start, token, keys, routes, variants, wait or health.')
    .recommendCommands()
    .strict()
    .version(packageVersion())
    .help()
    .wrap(Math.min(110, terminal.columns))
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(oneSentence(message));
    });
  await parser.parseAsync([...argv], {}, (_error, _parsed, output) => {
    if (output) terminal.print(`${output}\n`);
  });
  return session.exitCode;
}

function oneSentence(message: string): string {
  const line = message.split('\n', 1)[0]!.trim();
  return /[.?]$/.test(line) ? line : `${line}.`;
}
