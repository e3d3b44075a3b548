import { fixtureKeys } from '../../auth/fixture-keys.js';
import { defaultLifetime, defaultScopes } from '../../auth/fixture-token.js';
import { RESTRICTED_LIFETIME } from '../../auth/keys.js';
import { DEFAULT_LIFETIME, DEFAULT_SCOPES, mintToken } from '../../auth/mint.js';
import { clock, integer, list, text } from '../../config/option-values.js';
import { readOptions } from '../../config/options.js';
import type { FaultClaims } from '../../faults/fault-claim.js';
import { SCENARIO } from '../../faults/fault-limits.js';
import { Problem } from '../../http/problem.js';
import { readTextFile } from '../../system/text-file.js';
import { printJson } from '../admin-client.js';
import { defineCommand, type Flags } from '../command.js';
import { readJsonObject } from '../document.js';
import { UsageError } from '../usage-error.js';

const FLAGS = {
  repo: {
    read: text('the name of a repository'),
    describe: 'Name of the repository for which the token is valid (claim repo)',
  },
  'no-repo': { describe: 'Create a token without the claim repo, for operations on the organization' },
  scopes: {
    read: list(text('the name of a scope')),
    repeatable: true,
    describe: `Scopes of the token, separated by commas; default ${DEFAULT_SCOPES.join(',')}, without those that the key does not allow`,
  },
  org: {
    read: text('the name of an organization'),
    describe: 'Organization that issues the token (claim iss); default: the first organization of `emulator start`',
  },
  key: {
    read: text('a test key or the name of a file'),
    default: 'es256',
    describe: 'Key that signs the token: id of a test key (see `emulator keys`), or a private key file (PKCS#8 PEM)',
  },
  ttl: {
    read: integer(1),
    describe: `Lifetime of the token in seconds; default ${DEFAULT_LIFETIME}, for the restricted test key ${RESTRICTED_LIFETIME}`,
  },
  kid: {
    read: text('the id of a key'),
    describe: 'Key id (kid) in the header of the token; default: the id of the test key',
  },
  sub: {
    read: text('a name'),
    default: 'emulator',
    describe: 'Claim sub, the name of the client, which the journal shows',
  },
  claims: {
    read: readClaims,
    default: '{}',
    describe: 'JSON object with further claims; they override the claims that other flags set',
  },
  fault: {
    read: list(text('a fault')),
    repeatable: true,
    describe: 'Fault for requests with the token: NAME[*TIMES][+SKIP][@STAGE][;KEY=VALUE]…, such as rate_limited*2',
  },
  scenario: {
    read: text('a name of letters, digits, _, ., :, / and -', SCENARIO),
    describe: 'Scenario that applies to requests with the token',
  },
  clock: { read: clock, default: 'real', describe: 'Time at which the token is issued: "real" or an ISO 8601 time' },
  json: { describe: 'As JSON' },
} satisfies Flags;

/**
 * Command `emulator token`: signs an access token with a test key or a key file, and prints it. It needs no running
 * emulator.
 */
export const tokenCommand = defineCommand({
  name: 'token',
  describe: 'Print a signed access token (JWT), and nothing else',
  flags: FLAGS,
  exclusive: [['repo', 'no-repo']],
  run: async (given, { terminal }) => {
    const row = fixtureKeys().find(({ id }) => id === given.key);
    const { repo, kid = row?.id, scopes = defaultScopes(row) } = given;
    if (repo === undefined && !given['no-repo'] && scopes.some((scope) => scope !== 'org:read')) {
      throw new UsageError(
        'A token with these scopes is for one repository. Pass its name in --repo, or use --no-repo.',
      );
    }
    const token = await mint({
      privateKeyPem: readKey(row?.privateKeyFile ?? given.key),
      org: given.org ?? readOptions({}, terminal.environment).org[0]!,
      scopes,
      sub: given.sub,
      claims: { ...(await askedClaim(given)), ...given.claims },
      ttl: given.ttl ?? defaultLifetime(row),
      now: given.clock === 'real' ? terminal.now() : given.clock,
      ...(kid === undefined ? {} : { kid }),
      ...(repo === undefined ? {} : { repo }),
    });
    if (given.json) return printJson(terminal, { token });
    terminal.print(`${token}\n`);
  },
});

/**
 * Returns the claim that asks for faults in every request with the token. Empty if no flag asks for a fault or
 * scenario. Throws `UsageError` if a fault could never fire.
 */
async function askedClaim({
  fault: faults,
  scenario,
}: {
  readonly fault: readonly string[] | undefined;
  readonly scenario: string | undefined;
}): Promise<FaultClaims> {
  if (faults === undefined && scenario === undefined) return {};
  const { faultClaims } = await import('../../faults/fault-claim.js');
  const { operations } = await import('../../api/index.js');
  try {
    return faultClaims({ faults, scenario }, { where: '--fault', operations });
  } catch (error) {
    throw error instanceof Problem ? new UsageError(error.detail) : error;
  }
}

async function mint(request: Parameters<typeof mintToken>[0]): Promise<string> {
  try {
    return await mintToken(request);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readKey(file: string): string {
  try {
    return readTextFile(file);
  } catch {
    throw new UsageError(
      `--key ${JSON.stringify(file)} is neither a test key nor a readable file. \`emulator keys\` lists the test keys.`,
    );
  }
}

function readClaims(given: unknown): Readonly<Record<string, unknown>> {
  return readJsonObject(String(given), 'must be a JSON object, such as {"ops":["no-force-push"]}');
}
