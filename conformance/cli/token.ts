import type { Argv, CommandModule } from 'yargs';
import { readKey } from '../keys.js';
import { helperRecipe, signRecipe, type TokenRecipe } from '../tokens.js';

interface TokenArguments {
  readonly org: string;
  readonly key: string;
  readonly repo: string | undefined;
  readonly scopes: string | undefined;
  readonly ttl: number | undefined;
  readonly recipe: string;
}

export const tokenCommand: CommandModule<object, TokenArguments> = {
  command: 'token',
  describe: 'Make a token, good or broken, as the curl lines of a report ask for',
  builder: (yargs) =>
    yargs
      .option('org', { type: 'string', demandOption: true, describe: 'Organization: the iss claim' })
      .option('key', { type: 'string', demandOption: true, describe: 'PKCS#8 PEM file' })
      .option('repo', { type: 'string', describe: 'Repository: the repo claim' })
      .option('scopes', { type: 'string', describe: 'Scopes, joined by commas' })
      .option('ttl', { type: 'number', describe: 'Lifetime in seconds' })
      .option('recipe', {
        type: 'string',
        default: '{}',
        describe: 'All of it as JSON, with what is to be wrong',
      }) as Argv<TokenArguments>,
  handler: async (args) => {
    const recipe = helperRecipe({
      ...(args.repo === undefined ? {} : { repo: args.repo }),
      ...(args.scopes === undefined ? {} : { scopes: args.scopes.split(',') }),
      ...(args.ttl === undefined ? {} : { lifetime: args.ttl }),
      ...(JSON.parse(args.recipe) as TokenRecipe),
    });
    const token = await signRecipe(recipe, await readKey(args.key), args.org, Math.floor(Date.now() / 1000));
    process.stdout.write(`${token}\n`);
  },
};
