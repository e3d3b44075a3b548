/**
 * Addresses at which the emulator serves one organization: origins such as `http://127.0.0.1:8080`, without a trailing
 * slash.
 */
export interface OrganizationAddress {
  readonly org: string;
  readonly baseUrl: string;
  /** Base URL of the Git remotes. The remote of a repository is `<gitUrl>/<repo_name>.git`. */
  readonly gitUrl: string;
  /** Host and port of `gitUrl`. */
  readonly gitHost: string;
  /**
   * Address of the organization's port on this machine. Present only if responses show another address, because the
   * option `publicUrl` or `publicGitUrl` is set.
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
 * Facts that a running emulator prints in its ready line. `keyId` and `keyFile` describe the first test key for signing
 * tokens. Both are empty if the first organization has no key.
 */
interface Running {
  readonly orgs: readonly OrganizationAddress[];
  readonly keyId: string;
  readonly keyFile: string;
  readonly adminUrl: string;
}

/** Returns the addresses of an organization as members of an admin API response (in snake case). */
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

/** Addresses of an organization in a response of the admin API. */
interface AddressMember {
  readonly org: string;
  readonly base_url: string;
  readonly git_url: string;
  readonly git_host: string;
  readonly local_url?: string | undefined;
  readonly https_base_url?: string | undefined;
  readonly https_git_url?: string | undefined;
  readonly https_git_host?: string | undefined;
}

/** Returns the addresses of an organization that `addressMember` wrote. */
export function readAddressMember(member: AddressMember): OrganizationAddress {
  const { org, base_url, git_url, git_host, local_url, https_base_url, https_git_url, https_git_host } = member;
  const secure = https_base_url !== undefined && {
    https: {
      baseUrl: https_base_url,
      gitUrl: https_git_url ?? https_base_url,
      gitHost: https_git_host ?? new URL(https_base_url).host,
    },
  };
  return {
    org,
    baseUrl: base_url,
    gitUrl: git_url,
    gitHost: git_host,
    ...(local_url !== undefined && { localUrl: local_url }),
    ...secure,
  };
}

/**
 * Returns the content of the ready line (JSON that the emulator prints when it can serve requests). `orgs` has the
 * addresses of all organizations. The top-level members repeat those of the first organization.
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
  /** Address that programs on this machine can reach. Responses of the emulator may show another address. */
  readonly url: string;
  readonly gitUrl: string;
  readonly https: { readonly url: string; readonly gitUrl: string } | undefined;
}

/**
 * Parses the addresses of an organization from the JSON that `addressMember` writes. Returns undefined if it contains
 * no valid URL.
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
