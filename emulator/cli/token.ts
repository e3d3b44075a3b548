import { readFile } from 'node:fs/promises';
import type { CommandModule } from 'yargs';
import { type FixtureKey, fixtureKeys } from '../auth/fixture-keys.js';
import { DEFAULT_LIFETIME, DEFAULT_SCOPES, mintToken } from '../auth/mint.js';
import { clock, OptionError } from '../option-values.js';
import { readOptions } from '../options.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

interface Arguments {
  repo: string | undefined;
  'no-repo': boolean;
  scopes: string[] | undefined;
  org: string | undefined;
  key: string;
  ttl: number | undefined;
  kid: string | undefined;
  sub: string;
  claims: string;
  clock: string;
}

/** Tokens of a restricted key live at most this long, in seconds. */
const RESTRICTED_LIFETIME = 3600;

/** `emulator token`: signs a token with a test key or a key file, without asking any server. */
export function tokenCommand({ terminal }: Session): CommandModule<object, Arguments> {
  return {
    command: 'token',
    describe: 'Print a signed token, and nothing else',
    builder: (command) =>
      command
        .option('repo', {
          type: 'string',
          requiresArg: true,
          describe: 'Repository the token covers; --no-repo for none',
        })
        .option('no-repo', { type: 'boolean', default: false, describe: 'Leave the repo claim out' })
        .option('scopes', {
          type: 'string',
          array: true,
          requiresArg: true,
          describe: `Scopes, between commas; default ${DEFAULT_SCOPES.join(',')}, as far as the key allows them`,
        })
        .option('org', {
          type: 'string',
          requiresArg: true,
          describe: 'Organization; default: the first that start would have',
        })
        .option('key', {
          type: 'string',
          default: 'es256',
          describe: 'Test key (see `emulator keys`) or PKCS#8 PEM file',
        })
        .option('ttl', {
          type: 'number',
          describe: `Lifetime in seconds; default ${DEFAULT_LIFETIME}, for the restricted test key ${RESTRICTED_LIFETIME}`,
        })
        .option('kid', { type: 'string', describe: 'Key id in the header; default: the id of the test key' })
        .option('sub', { type: 'string', default: 'emulator', describe: 'Who asks, for logs' })
        .option('claims', {
          type: 'string',
          default: '{}',
          describe: 'Further claims, a JSON object; they win over the ones above',
        })
        .option('clock', { type: 'string', default: 'real', describe: 'Time of issue: "real" or ISO 8601' }),
    handler: async (args) => {
      const row = fixtureKeys().find(({ id }) => id === args.key);
      const kid = args.kid ?? row?.id;
      const scopes =
        args.scopes?.flatMap((part) => part.split(',')).filter((name) => name !== '') ?? defaultScopes(row);
      if (args.repo === undefined && !args['no-repo'] && scopes.some((scope) => scope !== 'org:read')) {
        throw new UsageError('A token with these scopes covers one repository: name it with --repo, or say --no-repo.');
      }
      if (args.ttl !== undefined && !Number.isSafeInteger(args.ttl))
        throw new UsageError('--ttl has to be whole seconds.');
      const token = await mint({
        privateKeyPem: await readKey(row?.privateKeyFile ?? args.key),
        org: args.org ?? readOptions({}, terminal.environment).org[0]!,
        scopes,
        sub: args.sub,
        claims: readClaims(args.claims),
        ttl: args.ttl ?? (isRestricted(row) ? RESTRICTED_LIFETIME : DEFAULT_LIFETIME),
        now: readClock(args.clock) ?? terminal.now(),
        ...(kid === undefined ? {} : { kid }),
        ...(args.repo === undefined || args['no-repo'] ? {} : { repo: args.repo }),
      });
      terminal.print(`${token}\n`);
    },
  };
}

async function mint(request: Parameters<typeof mintToken>[0]): Promise<string> {
  try {
    return await mintToken(request);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function defaultScopes(row: FixtureKey | undefined): readonly string[] {
  if (!row || !isRestricted(row)) return DEFAULT_SCOPES;
  const allowed: readonly string[] = row.allowedScopes;
  return DEFAULT_SCOPES.filter((scope) => allowed.includes(scope));
}

function isRestricted(row: FixtureKey | undefined): boolean {
  return row !== undefined && row.allowedScopes[0] !== '*';
}

async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new UsageError(`--key is neither a test key nor a file that can be read: ${JSON.stringify(file)}.`);
  }
}

function readClaims(text: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(text);
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return { ...claims };
  } catch {
    // Told below.
  }
  throw new UsageError('--claims has to be a JSON object, such as {"ops":["no-force-push"]}.');
}

/** Milliseconds, or undefined for the machine's time. */
function readClock(given: string): number | undefined {
  try {
    const time = clock(given);
    return time === 'real' ? undefined : time;
  } catch (error) {
    throw error instanceof OptionError ? new OptionError(`--clock ${error.message}.`) : error;
  }
}
