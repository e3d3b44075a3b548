import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { explainCommand } from './explain.js';
import { listCommand } from './list.js';
import { runCommand } from './run.js';
import { tokenCommand } from './token.js';

/** Exit codes: 0 conformant, 1 rules broken, 2 usage, 3 target, 4 the suite itself, 130 interrupted. */
export async function main(argv: readonly string[]): Promise<void> {
  await yargs(hideBin([...argv]))
    .scriptName('conformance')
    .usage('$0 <command>\n\nJudges a repository hosting service by its specification, rule by rule.')
    .env('CONFORMANCE')
    .command(runCommand)
    .command(listCommand)
    .command(explainCommand)
    .command(tokenCommand)
    .demandCommand(1, 'Name a command: run, list, explain or token.')
    .recommendCommands()
    .strict()
    .wrap(Math.min(110, process.stdout.columns ?? 110))
    .fail((message, error) => {
      process.stderr.write(`${message ?? error.message}\n`);
      process.exit(error === undefined || message !== null ? 2 : 4);
    })
    .help()
    .parseAsync();
}
