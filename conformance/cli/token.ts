import { type KeyRole, signRecipe, type TokenRecipe, withClientDefaults } from '../auth/tokens.js';
import { withAbsoluteTimes } from '../report/curl.js';
import type { Report } from '../report/results.js';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import { readKeyEntry } from '../target/secrets.js';
import { defineCommand, type Flags, type Values } from './command.js';
import { readResult } from './read-result.js';
import { argumentsOf, describeTarget, keyOfRole } from './target-options.js';
import { asUsageError, UsageError } from './usage-error.js';
import { choice, fileName, jsonObject, list, text, variable, wholeNumber } from './values.js';

const ROLES: readonly KeyRole[] = ['main', 'restricted', 'deleted', 'second', 'ES256', 'ES384', 'ES512', 'RS256'];

const FLAGS = {
  target: {
    read: fileName,
    isFile: true,
    describe: 'YAML or JSON file that describes the target, with its organization and keys',
  },
  role: {
    read: choice(ROLES),
    describe: `Key of the target file: ${ROLES.join(', ')}; default: main, or the key of --rule`,
  },
  org: {
    read: text('the name of an organization'),
    describe: 'Organization that issues the token (claim iss); default: that of --target or --result',
  },
  key: { read: fileName, isFile: true, describe: 'PEM file (PKCS#8) with the private key that signs the token' },
  'key-env': { read: variable, describe: 'Name of the environment variable that contains the key, instead of --key' },
  repo: {
    read: text('the name of a repository'),
    describe: 'Name of the repository for which the token is valid (claim repo)',
  },
  scopes: { read: list, describe: 'Scopes of the token, separated by commas' },
  ttl: { read: wholeNumber(Number.MAX_SAFE_INTEGER), describe: 'Lifetime of the token in seconds' },
  recipe: {
    read: jsonObject,
    default: '{}',
    describe: 'Complete token as JSON, including its defects; times also as {"from_now": SECONDS}',
  },
  rule: { read: text('the id of a rule'), describe: 'Rule whose deciding request had the token' },
  result: {
    read: fileName,
    describe: 'Result of run --reporter json that has the token of the rule',
  },
} satisfies Flags;

export const tokenCommand = defineCommand({
  name: 'token',
  describe: 'Print a token, valid or defective, as the curl commands of a report require',
  flags: FLAGS,
  exclusive: [
    ['key', 'key-env'],
    ['key', 'role'],
    ['key-env', 'role'],
  ],
  needs: [
    ['result', 'rule'],
    ['role', 'target'],
  ],
  run: async (args, { print, warn }) => {
    const { org, repo, scopes, ttl, recipe, rule, result } = args;
    const report = result === undefined ? undefined : await readResult(result);
    const typed = { repo, scopes, lifetime: ttl };
    for (const [member, value] of Object.entries(typed)) {
      if (value !== undefined && Object.hasOwn(recipe, member)) {
        throw new UsageError(`${member} is set by both --recipe and a flag`);
      }
    }
    if (rule !== undefined) await checkRule(rule);
    const recorded = report === undefined || rule === undefined ? {} : recipeOf(report, rule, `${result}`);
    if (rule !== undefined && report === undefined) {
      warn(`without --result this is an ordinary token; use --result to repeat the token that checked ${rule}\n`);
    }
    const { key, org: own } = await keyFor(args, recorded.key);
    const iss = org ?? own ?? report?.target.org;
    if (iss === undefined) throw new UsageError('--org is required: the organization that signs');
    const wanted: TokenRecipe = { ...recorded, ...defined(typed), ...recipe };
    const now = Math.floor(Date.now() / 1000);
    // Report a signing failure as a usage error, because the given recipe or key causes it.
    print(
      `${await asUsageError('', () => signRecipe(withAbsoluteTimes(withClientDefaults(wanted), now), key, iss, now))}\n`,
    );
  },
});

/**
 * Reads the signing key that a flag or a target file refers to. A target file also names the key's organization. Throws
 * `UsageError` if no key is given or if the key cannot be read.
 */
async function keyFor(
  { target, role, key: file, 'key-env': env }: Values<typeof FLAGS>,
  recorded: KeyRole | undefined,
): Promise<{ readonly key: SigningKey; readonly org?: string }> {
  const described = target === undefined ? undefined : await describeTarget(argumentsOf(['--target', target]));
  if (file === undefined && env === undefined) {
    if (described === undefined) throw new UsageError('a key is required: --key, --key-env or --target');
    return keyOfRole(described, role ?? recorded ?? 'main');
  }
  const flag = file === undefined ? '--key-env' : '--key';
  const key = await asUsageError(`${flag}: `, () => readKeyEntry({ file, env }, process.env));
  return { key, ...defined({ org: described?.org }) };
}

async function checkRule(id: string): Promise<void> {
  const { allRules } = await import('../rules/registry.js');
  if (!allRules().some((rule) => rule.id === id)) throw new UsageError(`unknown rule ${id}`);
}

/**
 * Returns the token recipe (description of a token) that the report contains for a rule. The recipe belongs to the
 * request that decided the verdict. Throws `UsageError` if the report contains no such recipe.
 */
function recipeOf(report: Report, id: string, file: string): TokenRecipe {
  const rule = report.rules.find((one) => one.id === id);
  if (rule === undefined) throw new UsageError(`${file} has no rule ${id}`);
  if (rule.recipe === undefined) {
    throw new UsageError(`${file} has no token of ${id}: its verdict is ${rule.verdict}, or its request had no token`);
  }
  return { scopes: ['git:read'], lifetime: 600, ...rule.recipe };
}
