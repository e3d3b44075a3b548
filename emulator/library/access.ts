import { TOKEN_REPOSITORY, tokenClaims, variablesOf, type Wiring, wiringOf } from '../admin/exec-variables.js';
import type { OrganizationAddress } from '../server/address.js';
import type { TokenOptions } from './token.js';

/** Options of the token in a remote URL: those of `token`, without the repository. */
export type RemoteOptions = Omit<TokenOptions, 'repo'>;

/** Options of the token in the environment variables. */
export type EnvironmentOptions = Pick<TokenOptions, 'repo' | 'scopes' | 'sub' | 'faults' | 'scenario'>;

/** Service (emulator or namespace) that signs tokens. @internal */
export interface TokenService {
  readonly orgs: readonly OrganizationAddress[];
  readonly keyFile: string;
  readonly token: (options: TokenOptions) => Promise<string>;
}

/**
 * Returns the URL of a Git remote with a token for it. Rejects with an `Error` if the organization does not exist.
 * @internal
 */
export async function remoteUrl(service: TokenService, repo: string, options: RemoteOptions = {}): Promise<string> {
  if (typeof repo !== 'string' || repo === '')
    throw new Error(`The name of the repository must be a text such as "team/app", not ${JSON.stringify(repo)}.`);
  const { org = service.orgs[0]!.org } = options;
  const address = service.orgs.find((one) => one.org === org);
  if (!address) throw new Error(`The organization ${JSON.stringify(org)} does not exist in the emulator.`);
  const token = await service.token({ ...options, repo });
  const { gitUrl } = wiringOf(address);
  // The user name is arbitrary, because the service reads only the password.
  return `${gitUrl.replace('://', `://t:${token}@`)}/${repo.split('/').map(encodeURIComponent).join('/')}.git`;
}

/**
 * Returns the environment variables of `emulator exec` for the first organization. `allowed` lists the scopes that its
 * signing key may grant. `wiring` contains the addresses for the variables. The token is empty if there is no key.
 * @internal
 */
export async function environmentOf(
  service: TokenService,
  { repo = TOKEN_REPOSITORY, scopes, ...rest }: EnvironmentOptions,
  { allowed, ...wiring }: Omit<Wiring, 'keyFile' | 'token'> & { readonly allowed: readonly string[] },
): Promise<Record<string, string>> {
  const { keyFile } = service;
  const token = keyFile === '' ? '' : await service.token({ ...rest, ...tokenClaims({ repo, scopes }, allowed) });
  return variablesOf({ ...wiring, keyFile, token });
}
