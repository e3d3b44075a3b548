/** Where one organization is reached. Addresses are origins without a trailing slash. */
export interface OrganizationAddress {
  readonly org: string;
  readonly baseUrl: string;
  /** `<gitUrl>/<repo_name>.git` is a remote. */
  readonly gitUrl: string;
  /** Host and port of `gitUrl`. */
  readonly gitHost: string;
  /** Where it listens, which this machine reaches; only where `publicUrl` or `publicGitUrl` stands in place of it. */
  readonly localUrl?: string;
  /** The same by HTTPS, with the option `tls`. */
  readonly https?: SecureAddress;
}

/** Addresses of an organization that begin with `https://`. */
export interface SecureAddress {
  readonly baseUrl: string;
  readonly gitUrl: string;
  readonly gitHost: string;
}

/** What is known of a service that runs. Empty: it has no key. */
interface Running {
  readonly orgs: readonly OrganizationAddress[];
  readonly keyId: string;
  readonly keyFile: string;
  readonly adminUrl: string;
}

/** An address as it stands in JSON. */
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

/** The members of the ready line that say where everything is; those beside `orgs` are the first organization's. */
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
  /** Where this machine reaches it, whatever its answers show. */
  readonly url: string;
  readonly gitUrl: string;
  readonly https: { readonly url: string; readonly gitUrl: string } | undefined;
}

/** What a member of an address says; undefined where it names none. */
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
