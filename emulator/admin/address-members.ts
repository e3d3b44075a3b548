/**
 * Addresses at which the emulator serves one organization: origins such as `http://127.0.0.1:8080`, without a trailing
 * slash.
 */
export interface OrganizationAddress {
  readonly org: string;
  readonly baseUrl: string;
  /** Origin of the URLs of Git remotes: `<gitUrl>/<repo_name>.git`. */
  readonly gitUrl: string;
  /** Host and port of `gitUrl`. */
  readonly gitHost: string;
  /**
   * Address of the organization's port, which programs on this machine can reach. Present only if the option
   * `publicUrl` or `publicGitUrl` replaces this address in responses.
   */
  readonly localUrl?: string;
  /** HTTPS addresses of the organization; present only with the option `tls`. */
  readonly https?: SecureAddress;
}

/** HTTPS addresses at which the emulator serves one organization. */
export interface SecureAddress {
  readonly baseUrl: string;
  readonly gitUrl: string;
  readonly gitHost: string;
}

/**
 * Facts about a running emulator for the line that it prints when it is ready. `keyId` and `keyFile`: first test key
 * for signing tokens; both are empty if the first organization has no key.
 */
interface Running {
  readonly orgs: readonly OrganizationAddress[];
  readonly keyId: string;
  readonly keyFile: string;
  readonly adminUrl: string;
}

/** Returns the URLs of an organization with the member names that responses of the admin API use (snake case). */
export function addressMember({ org, baseUrl, gitUrl, gitHost, localUrl, https }: OrganizationAddress) {
  return {
    org,
    base_url: baseUrl,
    git_url: gitUrl,
    git_host: gitHost,
    ...(localUrl !== undefined && { local_url: localUrl }),
    ...(https && { https_base_url: https.baseUrl, https_git_url: https.gitUrl, https_git_host: https.gitHost }),
  };
}

/**
 * Returns the members of the ready line (JSON that the emulator prints when it can serve requests): addresses and key.
 * The members beside `orgs` are those of the first organization.
 */
export function readyMembers({ orgs, keyId, keyFile, adminUrl }: Running) {
  const all = orgs.map(addressMember);
  return {
    ...all[0]!,
    orgs: all,
    key_id: keyId === '' ? null : keyId,
    key_file: keyFile === '' ? null : keyFile,
    admin_url: adminUrl,
  };
}

export interface ReadAddress {
  /** Address that programs on this machine can reach, even if responses of the emulator show another one. */
  readonly url: string;
  readonly gitUrl: string;
  readonly https: { readonly url: string; readonly gitUrl: string } | undefined;
}

/**
 * Parses the JSON members of an organization's addresses, as `addressMember` writes them; undefined if they contain no
 * URL.
 */
export function readAddress(member: Readonly<Record<string, unknown>>): ReadAddress | undefined {
  const textOf = (name: string) => (typeof member[name] === 'string' ? member[name] : undefined);
  const local = textOf('local_url');
  const url = local ?? textOf('base_url');
  if (url === undefined || !URL.canParse(url)) return undefined;
  const secure = textOf('https_base_url');
  return {
    url,
    gitUrl: local ?? textOf('git_url') ?? url,
    https: secure === undefined ? undefined : { url: secure, gitUrl: textOf('https_git_url') ?? secure },
  };
}
