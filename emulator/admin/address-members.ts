/** Addresses of one organization: origins without a trailing slash. */
export interface OrganizationAddress {
  readonly org: string;
  readonly baseUrl: string;
  /** Base URL of remotes: `<gitUrl>/<repo_name>.git`. */
  readonly gitUrl: string;
  /** Host and port of `gitUrl`. */
  readonly gitHost: string;
  /** Address of the port, which this machine can reach. Present only if `publicUrl` or `publicGitUrl` replaces it. */
  readonly localUrl?: string;
  /** HTTPS addresses; present with the option `tls`. */
  readonly https?: SecureAddress;
}

/** HTTPS addresses of one organization. */
export interface SecureAddress {
  readonly baseUrl: string;
  readonly gitUrl: string;
  readonly gitHost: string;
}

/** Facts about a running service. `keyId` and `keyFile` are empty if it has no key. */
interface Running {
  readonly orgs: readonly OrganizationAddress[];
  readonly keyId: string;
  readonly keyFile: string;
  readonly adminUrl: string;
}

/** Returns an address in its JSON form. */
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
 * Returns the addresses and the key of the ready line. The members beside `orgs` are those of the first organization.
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
  /** Address that this machine can reach, even if responses show another one. */
  readonly url: string;
  readonly gitUrl: string;
  readonly https: { readonly url: string; readonly gitUrl: string } | undefined;
}

/** Parses the JSON form of an address; undefined if it contains no URL. */
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
