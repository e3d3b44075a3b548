import { ADMIN_PREFIX } from '../admin/path.js';
import type { Listener } from './listeners.js';
import type { SigningKey } from './registered-keys.js';

/** Where one organization is reached. Addresses are origins without a trailing slash. */
export interface OrganizationAddress {
  readonly org: string;
  readonly baseUrl: string;
  /** `<gitUrl>/<repo_name>.git` is a remote. */
  readonly gitUrl: string;
  /** Host and port of `gitUrl`. */
  readonly gitHost: string;
  /** The same by HTTPS, with the option `tls`. */
  readonly https?: SecureAddress;
}

/** Addresses of an organization that begin with `https://`. */
export interface SecureAddress {
  readonly baseUrl: string;
  readonly gitUrl: string;
  readonly gitHost: string;
}

/** `isSecure`: whether its port for HTTPS is for everybody, and not only for hosts that clients have built in. @internal */
export function addressOf(
  { org, shown: { baseUrl, gitUrl }, secure }: Listener,
  isSecure: boolean,
): OrganizationAddress {
  const address = { org, baseUrl, gitUrl, gitHost: hostOf(gitUrl) };
  if (!isSecure || !secure) return address;
  const { origin, host } = secure;
  return { ...address, https: { baseUrl: origin, gitUrl: origin, gitHost: host } };
}

/** What stands behind the credential in a remote. */
function hostOf(url: string): string {
  return url.slice(url.indexOf('://') + 3);
}

/** @internal */
export function adminUrlOf([first]: readonly Listener[]): string {
  return `${first!.shown.baseUrl}${ADMIN_PREFIX}`;
}

/** An address as it stands in JSON. @internal */
export function addressMember({ org, baseUrl, gitUrl, gitHost, https }: OrganizationAddress) {
  return {
    org,
    base_url: baseUrl,
    git_url: gitUrl,
    git_host: gitHost,
    ...(https && { https_base_url: https.baseUrl, https_git_url: https.gitUrl, https_git_host: https.gitHost }),
  };
}

/** The members of the ready line that say where everything is; those beside `orgs` are the first organization's. @internal */
export function addressMembers(listeners: readonly Listener[], key: SigningKey, isSecure: boolean) {
  const orgs = listeners.map((listener) => addressMember(addressOf(listener, isSecure)));
  return {
    ...orgs[0]!,
    orgs,
    key_id: key.id === '' ? null : key.id,
    key_file: key.file === '' ? null : key.file,
    admin_url: adminUrlOf(listeners),
    pid: process.pid,
  };
}
