import { isDeepStrictEqual } from 'node:util';
import { adminUrlOf, isEmulator } from '../run/preflight.js';
import { readKey } from '../target/keys.js';
import { originOf, type Target } from '../target/target.js';
import type { Flag, Flags, Values } from './command.js';
import { UsageError } from './usage-error.js';
import { httpAddress, list, text } from './values.js';

const file = text('the name of a file');
const organization = text('the name of an organization');

export const TARGET_FLAGS = {
  'base-url': { read: httpAddress, describe: 'Address of the API' },
  'git-url': { read: httpAddress, describe: 'Address of the Git host; default: the API address' },
  org: { read: organization, describe: 'Organization: the iss of every token' },
  key: { read: file, describe: 'PKCS#8 PEM of an unrestricted key' },
  'key-id': { read: text('the id of a key'), describe: 'Id under which that key is registered' },
  'other-key': { read: file, repeatable: true, describe: 'PEM of another unrestricted key, of any kind' },
  'restricted-key': { read: file, describe: 'PEM of a restricted key' },
  'restricted-scopes': { read: list, default: 'git:read', describe: 'Its allowlist' },
  'deleted-key': { read: file, describe: 'PEM of a key that was registered and deleted' },
  'second-org': { read: organization, describe: 'Another organization on the same service' },
  'second-key': { read: file, describe: 'PEM of a key of that organization' },
  'second-base-url': { read: httpAddress, describe: 'Address of the API for that organization' },
  repo: {
    read: text('the name of a repository'),
    describe: 'An existing repository with commits, for runs that do not write',
  },
  write: { negatable: true, describe: 'Create and change repositories; default: only on an emulator' },
  companion: { negatable: true, describe: 'Also try routes that only published clients show' },
  'admin-url': {
    read: httpAddress,
    describe: 'Where the emulator is controlled; default: /_emulator below the API address',
  },
  'admin-token': {
    read: text('an admin token'),
    secret: true,
    describe: 'What its admin routes ask for; default: EMULATOR_ADMIN_TOKEN',
  },
} satisfies Flags;

export type TargetArguments = Values<typeof TARGET_FLAGS>;

/** Which flags say nothing without which. */
export const TARGET_NEEDS: readonly (readonly [string, string])[] = [
  ...Object.keys(TARGET_FLAGS)
    .filter((flag) => flag !== 'base-url')
    .map((flag) => [flag, 'base-url'] as const),
  ['base-url', 'org'],
  ['base-url', 'key'],
  ['restricted-scopes', 'restricted-key'],
  ['second-org', 'second-key'],
  ['second-key', 'second-org'],
  ['second-base-url', 'second-org'],
];

/** The flags that name the same target again, as words. Secrets are left out; the environment has them. */
export function targetFlags(args: TargetArguments): string[] {
  return Object.entries<Flag>(TARGET_FLAGS).flatMap(([flag, row]) => {
    const value: unknown = args[flag as keyof TargetArguments];
    const standard = row.read === undefined || row.default === undefined ? undefined : row.read(row.default);
    if (value === undefined || row.secret === true || isDeepStrictEqual(value, standard)) return [];
    if (row.read === undefined) return value === true ? [`--${flag}`] : row.negatable ? [`--no-${flag}`] : [];
    if (row.repeatable) return [value].flat().flatMap((one) => [`--${flag}`, String(one)]);
    const typed = Array.isArray(value) ? value.join(',') : String(value);
    return [`--${flag}`, row.read === httpAddress ? withoutUserInfo(typed) : typed];
  });
}

function withoutUserInfo(address: string): string {
  const url = new URL(address);
  if (url.username === '' && url.password === '') return address;
  Object.assign(url, { username: '', password: '' });
  return url.href;
}

/** The target of the arguments; undefined without an address. `timeout`: milliseconds for one answer. Throws `UsageError`. */
export async function readTarget(args: TargetArguments, timeout: number): Promise<Target | undefined> {
  const { org, key, 'base-url': address } = args;
  // The last two are needed by the first.
  if (address === undefined || org === undefined || key === undefined) return undefined;
  const baseUrl = originOf(address);
  const adminUrl = args['admin-url']?.replace(/\/$/, '') ?? adminUrlOf(baseUrl);
  const adminToken = args['admin-token'] ?? process.env.EMULATOR_ADMIN_TOKEN;
  const emulator = await isEmulator(adminUrl, Math.min(timeout, 5000));
  if (args['admin-url'] !== undefined && !emulator) throw new UsageError(`${adminUrl}/health is not an emulator's`);
  const { 'restricted-key': restricted, 'deleted-key': deleted, 'second-key': second, 'second-org': secondOrg } = args;
  const { 'key-id': id, 'second-base-url': secondUrl } = args;
  try {
    return {
      baseUrl,
      gitUrl: originOf(args['git-url'] ?? baseUrl),
      org,
      key: await readKey(key, id === undefined ? {} : { id }),
      otherKeys: await Promise.all(args['other-key'].map((other) => readKey(other))),
      write: args.write ?? emulator,
      companion: args.companion ?? emulator,
      ...(restricted && { restrictedKey: await readKey(restricted, { allowedScopes: args['restricted-scopes'] }) }),
      ...(deleted && { deletedKey: await readKey(deleted) }),
      ...(second &&
        secondOrg && {
          second: {
            org: secondOrg,
            key: await readKey(second),
            ...(secondUrl && { baseUrl: originOf(secondUrl) }),
          },
        }),
      ...(args.repo && { repo: args.repo }),
      ...(emulator && { adminUrl, ...(adminToken && { adminToken }) }),
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
