import { parseArgs } from 'node:util';
import { createSigner, type KeyRole } from '../auth/tokens.js';
import { adminUrlOf, isEmulator } from '../run/preflight.js';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import { readKeyEntry, readSecret } from '../target/secrets.js';
import { originOf, type Target } from '../target/target.js';
import { InvalidTargetFile, type KeyEntry, readTargetFile, type TargetFile } from '../target/target-file.js';
import type { Flag, Flags, Need, Values } from './command.js';
import { asUsageError, UsageError } from './usage-error.js';
import { fileName, httpAddress, list, text, variable } from './values.js';

const organization = text('the name of an organization');

export const TARGET_FLAGS = {
  target: {
    read: fileName,
    isFile: true,
    describe: 'YAML or JSON file that describes the target; the flags below override its members',
  },
  'base-url': { read: httpAddress, describe: 'Address of the HTTP API of the target' },
  'git-url': {
    read: httpAddress,
    describe: 'Address of the Git remotes of the target; default: the address of the API',
  },
  org: { read: organization, describe: 'Organization that issues the tokens (claim iss)' },
  key: {
    read: fileName,
    isFile: true,
    describe: 'PEM file (PKCS#8) with an unrestricted private key of the organization',
  },
  'key-env': { read: variable, describe: 'Name of the environment variable that contains the key, instead of --key' },
  'key-id': { read: text('the id of a key'), describe: 'Id under which the key in --key is registered' },
  'other-key': {
    read: fileName,
    isFile: true,
    repeatable: true,
    describe: 'PEM file with another unrestricted private key, of any algorithm',
  },
  'restricted-key': {
    read: fileName,
    isFile: true,
    describe: 'PEM file with a private key that is restricted to some scopes',
  },
  'restricted-scopes': {
    read: list,
    describe: 'Scopes that the restricted key allows, separated by commas; default: git:read',
  },
  'deleted-key': {
    read: fileName,
    isFile: true,
    describe: 'PEM file with a private key that was registered and then deleted',
  },
  'second-org': { read: organization, describe: 'Another organization on the same service' },
  'second-key': { read: fileName, isFile: true, describe: 'PEM file with a private key of the second organization' },
  'second-base-url': { read: httpAddress, describe: 'Address of the HTTP API for the second organization' },
  repo: {
    read: text('the name of a repository'),
    describe: 'Name of an existing repository with commits, for runs that do not write',
  },
  write: { negatable: true, describe: 'Create and change repositories; default: only on an emulator' },
  companion: { negatable: true, describe: 'Also try routes that only published clients use' },
  'admin-url': {
    read: httpAddress,
    describe: 'Address of the admin API of the emulator; default: /_emulator below the API address',
  },
  'admin-token': {
    read: text('an admin token'),
    secret: true,
    describe: 'Token for the admin API of the emulator; default: the variable EMULATOR_ADMIN_TOKEN',
  },
} satisfies Flags;

export type TargetArguments = Values<typeof TARGET_FLAGS>;

/** Pairs of target flags that must not be given together. */
export const TARGET_EXCLUSIVE: readonly (readonly [string, string])[] = [['key', 'key-env']];

/** Target flags that require another flag. */
export const TARGET_NEEDS: readonly Need[] = [
  ...Object.keys(TARGET_FLAGS)
    .filter((flag) => flag !== 'base-url' && flag !== 'target')
    .map((flag) => [flag, ['base-url', 'target']] as const),
  ['base-url', ['org', 'target']],
  ['base-url', ['key', 'key-env', 'target']],
  ['restricted-scopes', ['restricted-key', 'target']],
  ['second-org', ['second-key', 'target']],
  ['second-key', ['second-org', 'target']],
  ['second-base-url', ['second-org', 'target']],
];

/** Parses command-line words in the form that `wordsOf` returns. Throws `UsageError` if a word is invalid. */
export function argumentsOf(words: readonly string[]): TargetArguments {
  const options = Object.fromEntries(
    Object.entries<Flag>(TARGET_FLAGS).map(([flag, row]) => [
      flag,
      { type: row.read ? 'string' : 'boolean', multiple: row.repeatable === true } as const,
    ]),
  );
  try {
    const { values } = parseArgs({ args: [...words], options, allowNegative: true });
    const read = Object.entries<Flag>(TARGET_FLAGS).map(([flag, row]) => {
      const typed = values[flag];
      if (row.repeatable) return [flag, [typed ?? []].flat()];
      return [flag, typeof typed === 'string' ? row.read?.(typed) : typed];
    });
    return Object.fromEntries(read) as TargetArguments;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Converts flags back into command-line words, for commands that a report prints. Omits secrets: the printed command
 * gets them from the environment, or from a file that the target file names. `place` converts file names.
 */
export function wordsOf<Table extends Flags>(
  table: Table,
  args: { readonly [Name in keyof Table]?: unknown },
  place: (file: string) => string = (file) => file,
): string[] {
  return Object.entries<Flag>(table).flatMap(([flag, row]) => {
    const value: unknown = args[flag as keyof Table];
    if (value === undefined || row.secret === true) return [];
    if (row.read === undefined) return value === true ? [`--${flag}`] : row.negatable ? [`--no-${flag}`] : [];
    if (row.repeatable)
      return [value].flat().flatMap((one) => [`--${flag}`, row.isFile ? place(String(one)) : String(one)]);
    const typed = Array.isArray(value) ? value.join(',') : value === Infinity ? 'unlimited' : String(value);
    if (row.isFile) return [`--${flag}`, place(typed)];
    return [`--${flag}`, row.read === httpAddress ? withoutUserInfo(typed) : typed];
  });
}

function withoutUserInfo(address: string): string {
  const url = new URL(address);
  if (url.username === '' && url.password === '') return address;
  Object.assign(url, { username: '', password: '' });
  return url.href;
}

/**
 * Signing key that a flag or a target file refers to. `said` is the name of this flag or target-file member, for error
 * messages.
 */
interface NamedKey extends KeyEntry {
  readonly said: string;
  readonly targetFile?: string;
}

/**
 * Target (service under test) as described by flags and a target file. No key has been read and no request sent yet.
 */
export interface DescribedTarget extends Omit<TargetFile, 'keys' | 'second' | 'admin'> {
  /** Path of the target file as given on the command line. Undefined if absent. */
  readonly path?: string | undefined;
  readonly keys: Readonly<Record<'main' | 'restricted' | 'deleted' | 'second', NamedKey | undefined>> & {
    readonly others: readonly NamedKey[];
  };
  readonly second?: { readonly org: string; readonly base_url?: string | undefined };
  readonly adminUrl?: string | undefined;
  readonly adminToken?: string | NonNullable<TargetFile['admin']>['token'];
}

/**
 * Combines flags and target file; flags take precedence. Returns undefined if neither describes a target (service under
 * test). Throws `UsageError` if a flag or the file is invalid.
 */
export async function describeTarget(args: TargetArguments): Promise<DescribedTarget | undefined> {
  const path = args.target;
  const from = path === undefined ? undefined : await readFile(path);
  const base_url = args['base-url'] ?? from?.base_url;
  const org = args.org ?? from?.org;
  const ofFile = <Key extends KeyEntry>(member: string, key: Key | undefined) =>
    key && { ...key, said: `${path}: ${member}`, targetFile: String(path) };
  const main = mainKey(args) ?? ofFile('keys.main', from?.keys.main);
  // Something is undefined here only if no target is described at all. `TARGET_NEEDS` has refused incomplete flags, and
  // a valid target file is complete.
  if (base_url === undefined || org === undefined || main === undefined) return undefined;
  const others = args['other-key'].map((file) => ({ said: '--other-key', file }));
  const second = {
    org: args['second-org'] ?? from?.second?.org,
    key: ofFlag(args, 'second-key') ?? ofFile('second.key', from?.second?.key),
    base_url: args['second-base-url'] ?? from?.second?.base_url,
  };
  checkSecond(args, second);
  const isSecond = second.org !== undefined && second.key !== undefined;
  return {
    ...from,
    path,
    base_url,
    org,
    git_url: args['git-url'] ?? from?.git_url,
    keys: {
      main: args['key-id'] === undefined ? main : { ...main, id: args['key-id'] },
      restricted: restrictedKey(args, ofFile('keys.restricted', from?.keys.restricted)),
      deleted: ofFlag(args, 'deleted-key') ?? ofFile('keys.deleted', from?.keys.deleted),
      second: isSecond ? second.key : undefined,
      others:
        others.length > 0 ? others : (from?.keys.others ?? []).map((one, at) => ofFile(`keys.others[${at}]`, one)),
    },
    second: isSecond ? second : undefined,
    repo: args.repo ?? from?.repo,
    write: args.write ?? from?.write,
    companion: args.companion ?? from?.companion,
    adminUrl: args['admin-url'] ?? from?.admin?.url,
    adminToken: args['admin-token'] ?? from?.admin?.token,
  } as DescribedTarget;
}

async function readFile(path: string): Promise<TargetFile> {
  try {
    return await readTargetFile(path);
  } catch (error) {
    throw error instanceof InvalidTargetFile ? new UsageError(error.message) : error;
  }
}

function ofFlag(args: TargetArguments, flag: 'key' | 'restricted-key' | 'deleted-key' | 'second-key') {
  const file = args[flag];
  return file === undefined ? undefined : { said: `--${flag}`, file };
}

function mainKey(args: TargetArguments): NamedKey | undefined {
  const env = args['key-env'];
  return ofFlag(args, 'key') ?? (env === undefined ? undefined : { said: '--key-env', env });
}

function restrictedKey(args: TargetArguments, ofFile: NamedKey | undefined): NamedKey | undefined {
  const scopes = args['restricted-scopes'];
  const typed = ofFlag(args, 'restricted-key');
  if (typed) return { ...typed, scopes: scopes ?? ['git:read'] };
  if (ofFile === undefined && scopes !== undefined) {
    throw new UsageError(
      `--restricted-scopes has no effect without --restricted-key or keys.restricted of ${args.target}`,
    );
  }
  return ofFile && { ...ofFile, ...defined({ scopes }) };
}

function checkSecond(args: TargetArguments, { org, key }: { org?: string | undefined; key?: unknown }): void {
  if (org !== undefined && key !== undefined) return;
  const typed = (['second-org', 'second-key', 'second-base-url'] as const).find((flag) => args[flag] !== undefined);
  if (typed === undefined) return;
  const lacking = org === undefined ? 'second-org' : 'second-key';
  throw new UsageError(`--${typed} has no effect without --${lacking} or second of ${args.target}`);
}

/**
 * Reads a signing key. If this fails, throws `UsageError` with the name of the flag or target-file member that refers
 * to the key.
 */
async function readNamed({ said, targetFile, ...entry }: NamedKey): Promise<SigningKey> {
  const key = await asUsageError(`${said}: `, () => readKeyEntry(entry, process.env));
  return { ...key, ...defined({ targetFile }) };
}

/**
 * Reads the keys of a target (service under test) and asks the admin API whether the target is an emulator. Throws
 * `UsageError` if a key cannot be read.
 *
 * - `timeout`: maximum wait for one response in milliseconds.
 * - `signal`: cancels the request if aborted.
 */
export async function openTarget(described: DescribedTarget, timeout: number, signal?: AbortSignal): Promise<Target> {
  const keyed = await readKeys(described);
  const adminUrl = described.adminUrl?.replace(/\/$/, '') ?? adminUrlOf(keyed.baseUrl);
  const adminToken = await adminTokenOf(described);
  const emulator = await isEmulator(adminUrl, Math.min(timeout, 5000), signal);
  if (described.adminUrl !== undefined && !emulator && !signal?.aborted)
    throw new UsageError(`${adminUrl}/health is not that of an emulator`);
  return {
    ...keyed,
    write: described.write ?? emulator,
    companion: described.companion ?? emulator,
    ...(emulator && { adminUrl, ...(adminToken && { adminToken }) }),
  };
}

async function adminTokenOf({ adminToken, path }: DescribedTarget): Promise<string | undefined> {
  if (adminToken === undefined || typeof adminToken === 'string') return adminToken ?? process.env.EMULATOR_ADMIN_TOKEN;
  const token = await asUsageError(`${path}: admin.token: `, () => readSecret(adminToken, process.env));
  return token.trim();
}

/** Reads the keys of a target (service under test). Sends no request. */
async function readKeys(described: DescribedTarget): Promise<Target> {
  const { keys, second, repo } = described;
  const baseUrl = originOf(described.base_url);
  const { main } = keys;
  if (main === undefined) throw new UsageError('the target has no key: use --key');
  return {
    baseUrl,
    gitUrl: originOf(described.git_url ?? baseUrl),
    org: described.org,
    key: await readNamed(main),
    otherKeys: await Promise.all(keys.others.map(readNamed)),
    write: false,
    companion: false,
    ...defined({
      restrictedKey: keys.restricted && (await readNamed(keys.restricted)),
      deletedKey: keys.deleted && (await readNamed(keys.deleted)),
      second: second &&
        keys.second && {
          org: second.org,
          key: await readNamed(keys.second),
          ...(second.base_url && { baseUrl: originOf(second.base_url) }),
        },
      repo: repo || undefined,
    }),
  };
}

/**
 * Reads the key of one role, such as `restricted`, and returns it with its organization. Throws `UsageError` if the key
 * is missing or cannot be read.
 */
export async function keyOfRole(described: DescribedTarget, role: KeyRole): Promise<{ key: SigningKey; org: string }> {
  const { keys, org, second, path } = described;
  if (role === 'main' || role === 'restricted' || role === 'deleted' || role === 'second') {
    const named = keys[role];
    if (named === undefined) throw new UsageError(`${path ?? 'the target'} has no ${role} key`);
    return { key: await readNamed(named), org: role === 'second' ? (second?.org ?? org) : org };
  }
  const key = createSigner(await readKeys(described), Date.now).key(role);
  if (key === undefined) throw new UsageError(`${path ?? 'the target'} has no ${role} key`);
  return { key, org };
}
