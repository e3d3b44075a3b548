import type { Argv } from 'yargs';
import { readKey } from '../keys.js';
import { isEmulator } from '../preflight.js';
import { isLoopback, originOf, type Target } from '../target.js';

export interface TargetArguments {
  readonly baseUrl: string | undefined;
  readonly gitUrl: string | undefined;
  readonly org: string | undefined;
  readonly key: string | undefined;
  readonly keyId: string | undefined;
  readonly otherKey: readonly string[];
  readonly restrictedKey: string | undefined;
  readonly restrictedScopes: string;
  readonly deletedKey: string | undefined;
  readonly secondOrg: string | undefined;
  readonly secondKey: string | undefined;
  readonly secondBaseUrl: string | undefined;
  readonly repo: string | undefined;
  readonly write: boolean | undefined;
  readonly companion: boolean | undefined;
  readonly adminUrl: string | undefined;
}

const file = (describe: string) => ({ type: 'string', describe, normalize: true }) as const;
const text = (describe: string) => ({ type: 'string', describe }) as const;

export function addTargetOptions(yargs: Argv<object>): Argv<TargetArguments> {
  return yargs
    .option('base-url', text('Address of the API'))
    .option('git-url', text('Address of the Git host; default: the API address'))
    .option('org', text('Organization: the iss of every token'))
    .option('key', file('PKCS#8 PEM of an unrestricted key'))
    .option('key-id', text('Id under which that key is registered'))
    .option('other-key', {
      type: 'string',
      array: true,
      default: [],
      describe: 'PEM of another unrestricted key, of any kind',
    })
    .option('restricted-key', file('PEM of a restricted key'))
    .option('restricted-scopes', { ...text('Its allowlist'), default: 'git:read' })
    .option('deleted-key', file('PEM of a key that was registered and deleted'))
    .option('second-org', text('Another organization on the same service'))
    .option('second-key', file('PEM of a key of that organization'))
    .option('second-base-url', text('Address of the API for that organization'))
    .option('repo', text('An existing repository with commits, for runs that do not write'))
    .option('write', { type: 'boolean', describe: 'Create and change repositories; default: only on this machine' })
    .option('companion', { type: 'boolean', describe: 'Also try routes that only published clients show' })
    .option(
      'admin-url',
      text('Where the emulator is controlled; default: /_emulator below the API address'),
    ) as unknown as Argv<TargetArguments>;
}

/** A mistake in how the suite was called: exit code 2. */
export class UsageError extends Error {
  readonly usage = true;
}

/** The target of the arguments; undefined without an address. */
export async function readTarget(args: TargetArguments): Promise<Target | undefined> {
  if (args.baseUrl === undefined) {
    if (args.gitUrl !== undefined || args.key !== undefined) throw new UsageError('--base-url is missing');
    return undefined;
  }
  const { org, key } = args;
  if (org === undefined || key === undefined) throw new UsageError('--base-url needs --org and --key');
  if ((args.secondOrg === undefined) !== (args.secondKey === undefined)) {
    throw new UsageError('--second-org and --second-key belong together');
  }
  const baseUrl = usable(() => originOf(args.baseUrl as string));
  const adminUrl = args.adminUrl ?? `${baseUrl}/_emulator`;
  const emulator = await isEmulator(adminUrl, 5000);
  if (args.adminUrl !== undefined && !emulator) throw new UsageError(`${adminUrl}/health is not an emulator's`);
  try {
    return {
      baseUrl,
      gitUrl: usable(() => originOf(args.gitUrl ?? baseUrl)),
      org,
      key: await readKey(key, args.keyId === undefined ? {} : { id: args.keyId }),
      otherKeys: await Promise.all(args.otherKey.map((other) => readKey(other))),
      write: args.write ?? isLoopback(baseUrl),
      companion: args.companion ?? emulator,
      ...(args.restrictedKey === undefined
        ? {}
        : { restrictedKey: await readKey(args.restrictedKey, { allowedScopes: args.restrictedScopes.split(',') }) }),
      ...(args.deletedKey === undefined ? {} : { deletedKey: await readKey(args.deletedKey) }),
      ...(args.secondOrg === undefined || args.secondKey === undefined
        ? {}
        : {
            second: {
              org: args.secondOrg,
              key: await readKey(args.secondKey),
              ...(args.secondBaseUrl === undefined ? {} : { baseUrl: originOf(args.secondBaseUrl) }),
            },
          }),
      ...(args.repo === undefined ? {} : { repo: args.repo }),
      ...(emulator ? { adminUrl } : {}),
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function usable(read: () => string): string {
  try {
    return read();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
