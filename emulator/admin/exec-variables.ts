import { RESTRICTED_LIFETIME } from '../auth/keys.js';
import type { OrganizationAddress } from './address-members.js';
import { ADMIN_PREFIX } from './path.js';

export interface HttpsAddresses {
  readonly url: string;
  readonly gitUrl: string;
}

/**
 * Facts about one organization of an emulator, from which the environment variables are computed: its addresses, key
 * and token.
 */
export interface Wiring {
  readonly url: string;
  readonly gitUrl: string;
  /** HTTPS addresses; undefined if the emulator does not serve HTTPS. */
  readonly https: HttpsAddresses | undefined;
  readonly org: string;
  readonly keyFile: string;
  readonly token: string;
  readonly adminUrl: string;
}

/**
 * Variables that `exec` and `env` set. A missing value is an empty string. None of them configures `start`, so that a
 * program of `exec` can start another emulator without configuring it by accident.
 */
export const VARIABLES: readonly Variable[] = [
  {
    name: 'EMULATOR_URL',
    read: ({ url }) => url,
    about: 'base address of the API, and the default address of the `emulator` commands',
  },
  {
    name: 'EMULATOR_GIT_URL',
    read: ({ gitUrl }) => gitUrl,
    about: 'base address of the Git remotes: `$EMULATOR_GIT_URL/NAME.git`',
  },
  { name: 'EMULATOR_ORG_NAME', read: ({ org }) => org, about: 'name of the first organization' },
  {
    name: 'EMULATOR_KEY_FILE',
    read: ({ keyFile }) => keyFile,
    about: 'private key that signs tokens of the organization (PKCS#8 PEM)',
  },
  { name: 'EMULATOR_TOKEN', read: ({ token }) => token, about: 'token for the repository that --repo names' },
  { name: 'EMULATOR_ADMIN_URL', read: ({ adminUrl }) => adminUrl, about: 'base address of the admin API' },
];

/** Variables that are set in addition if HTTPS is served (`--tls`). */
export const HTTPS_VARIABLES: readonly Variable[] = [
  {
    name: 'EMULATOR_HTTPS_URL',
    read: ({ https }) => https?.url ?? '',
    about: 'base address of the API over HTTPS; only with --tls',
  },
  {
    name: 'EMULATOR_HTTPS_GIT_URL',
    read: ({ https }) => https?.gitUrl ?? '',
    about: 'base address of the Git remotes over HTTPS; only with --tls',
  },
];

interface Variable {
  readonly name: string;
  readonly about: string;
  readonly read: (wiring: Wiring) => string;
}

/** Returns the values of the variables by name, in order. */
export function variablesOf(wiring: Wiring): Record<string, string> {
  const variables = wiring.https ? [...VARIABLES, ...HTTPS_VARIABLES] : VARIABLES;
  return Object.fromEntries(variables.map(({ name, read }) => [name, read(wiring)]));
}

/**
 * Returns the addresses for the variables of a program on the machine of the emulator. They are the addresses at which
 * the emulator itself listens, even if a reverse proxy is in front of it.
 */
export function wiringOf({
  org,
  baseUrl,
  gitUrl,
  localUrl,
  https,
}: OrganizationAddress): Omit<Wiring, 'keyFile' | 'token'> {
  const url = localUrl ?? baseUrl;
  return {
    url,
    gitUrl: localUrl ?? gitUrl,
    https: https && { url: https.baseUrl, gitUrl: https.gitUrl },
    org,
    adminUrl: `${url}${ADMIN_PREFIX}`,
  };
}

/** Default repository for which the token is valid. */
export const TOKEN_REPOSITORY = 'team/app';

/**
 * Default scopes (permissions) of the token: it can create its repository, fetch from and push to it, and list
 * repositories.
 */
export const TOKEN_SCOPES: readonly string[] = ['repo:write', 'git:write', 'git:read', 'org:read'];

/**
 * Returns the claims of the token in the environment variables. `allowed` lists the scopes that the signing key may
 * grant.
 */
export function tokenClaims(
  { repo, scopes }: { readonly repo: string; readonly scopes: readonly string[] | undefined },
  allowed: readonly string[],
): { readonly repo: string; readonly scopes: readonly string[]; readonly ttl?: number } {
  if (allowed[0] === '*') return { repo, scopes: scopes ?? TOKEN_SCOPES };
  const usual = TOKEN_SCOPES.filter((scope) => allowed.includes(scope));
  return { repo, scopes: scopes ?? (usual.length > 0 ? usual : allowed), ttl: RESTRICTED_LIFETIME };
}
