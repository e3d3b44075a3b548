import { readKey } from '../auth/keys.js';
import { signRecipe, type TokenRecipe, withClientDefaults } from '../auth/tokens.js';
import { defineCommand, type Flags } from './command.js';
import { UsageError } from './usage-error.js';
import { jsonObject, list, text, wholeNumber } from './values.js';

const FLAGS = {
  org: { read: text('the name of an organization'), required: true, describe: 'Organization: the iss claim' },
  key: { read: text('the name of a file'), required: true, describe: 'PKCS#8 PEM file' },
  repo: { read: text('the name of a repository'), describe: 'Repository: the repo claim' },
  scopes: { read: list, describe: 'Scopes, joined by commas' },
  ttl: { read: wholeNumber(Number.MAX_SAFE_INTEGER), describe: 'Lifetime in seconds' },
  recipe: { read: jsonObject, default: '{}', describe: 'All of it as JSON, with what is to be wrong' },
} satisfies Flags;

export const tokenCommand = defineCommand({
  name: 'token',
  describe: 'Make a token, good or broken, as the curl lines of a report ask for',
  flags: FLAGS,
  run: async ({ org, key, repo, scopes, ttl, recipe }, { print }) => {
    const typed = { repo, scopes, lifetime: ttl };
    for (const [member, value] of Object.entries(typed)) {
      if (value !== undefined && Object.hasOwn(recipe, member)) {
        throw new UsageError(`--recipe says ${member} too, and a flag says it already`);
      }
    }
    const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined));
    print(`${await sign({ ...given, ...recipe }, key, org)}\n`);
  },
});

/** Whatever cannot be signed is a mistake of the recipe or the key. */
async function sign(recipe: TokenRecipe, key: string, org: string): Promise<string> {
  try {
    return signRecipe(withClientDefaults(recipe), await readKey(key), org, Math.floor(Date.now() / 1000));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
