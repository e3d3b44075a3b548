import { signRecipe, type TokenRecipe, withClientDefaults } from '../auth/tokens.js';
import { withAbsoluteTimes } from '../report/curl.js';
import type { Report } from '../report/results.js';
import { readKey } from '../target/keys.js';
import { defineCommand, type Flags } from './command.js';
import { readResult } from './read-result.js';
import { UsageError } from './usage-error.js';
import { jsonObject, list, text, wholeNumber } from './values.js';

const FLAGS = {
  org: { read: text('the name of an organization'), describe: 'Organization: the iss claim; default: of --result' },
  key: { read: text('the name of a file'), required: true, describe: 'PKCS#8 PEM file' },
  repo: { read: text('the name of a repository'), describe: 'Repository: the repo claim' },
  scopes: { read: list, describe: 'Scopes, joined by commas' },
  ttl: { read: wholeNumber(Number.MAX_SAFE_INTEGER), describe: 'Lifetime in seconds' },
  recipe: {
    read: jsonObject,
    default: '{}',
    describe: 'All of it as JSON, with what is to be wrong; times also as {"from_now": SECONDS}',
  },
  rule: { read: text('the id of a rule'), describe: 'The token of the request that decided this rule' },
  result: {
    read: text('the name of a file'),
    describe: 'The result that says how it was made: of run --reporter json',
  },
} satisfies Flags;

export const tokenCommand = defineCommand({
  name: 'token',
  describe: 'Make a token, good or broken, as the curl lines of a report ask for',
  flags: FLAGS,
  needs: [['result', 'rule']],
  run: async ({ org, key, repo, scopes, ttl, recipe, rule, result }, { print, warn }) => {
    const report = result === undefined ? undefined : await readResult(result);
    const iss = org ?? report?.target.org;
    if (iss === undefined) throw new UsageError('--org is needed: the organization that signs');
    const typed = { repo, scopes, lifetime: ttl };
    for (const [member, value] of Object.entries(typed)) {
      if (value !== undefined && Object.hasOwn(recipe, member)) {
        throw new UsageError(`--recipe says ${member} too, and a flag says it already`);
      }
    }
    const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined));
    if (rule !== undefined) await checkRule(rule);
    const recorded = report === undefined || rule === undefined ? {} : recipeOf(report, rule, `${result}`);
    if (rule !== undefined && report === undefined) {
      warn(`without --result this is an ordinary token: a result says what ${rule} was judged with\n`);
    }
    print(`${await sign({ ...recorded, ...given, ...recipe }, key, iss)}\n`);
  },
});

async function checkRule(id: string): Promise<void> {
  const { allRules } = await import('../rules/registry.js');
  if (!allRules().some((rule) => rule.id === id)) throw new UsageError(`no rule is called ${id}`);
}

/** How the token was made of the request that decided a rule. */
function recipeOf(report: Report, id: string, file: string): TokenRecipe {
  const rule = report.rules.find((one) => one.id === id);
  if (rule === undefined) throw new UsageError(`${file} has no rule ${id}`);
  if (rule.recipe === undefined) {
    throw new UsageError(`${file} has no token of ${id}: it is ${rule.verdict}, or its request carried none`);
  }
  const { key: _key, ...rest } = rule.recipe;
  return { scopes: ['git:read'], lifetime: 600, ...rest };
}

/** Whatever cannot be signed is a mistake of the recipe or the key. */
async function sign(recipe: TokenRecipe, key: string, org: string): Promise<string> {
  try {
    const seconds = Math.floor(Date.now() / 1000);
    return signRecipe(withAbsoluteTimes(withClientDefaults(recipe), seconds), await readKey(key), org, seconds);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
