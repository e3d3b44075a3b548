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
}

/** @internal */
export function addressOf({ org, origin, host }: Listener): OrganizationAddress {
  return { org, baseUrl: origin, gitUrl: origin, gitHost: host };
}

/** @internal */
export function adminUrlOf([first]: readonly Listener[]): string {
  return `${first!.origin}${ADMIN_PREFIX}`;
}

/** The members of the ready line that say where everything is; those beside `orgs` are the first organization's. @internal */
export function addressMembers(listeners: readonly Listener[], key: SigningKey) {
  const orgs = listeners.map(({ org, origin, host }) => ({ org, base_url: origin, git_url: origin, git_host: host }));
  return {
    ...orgs[0]!,
    orgs,
    key_id: key.id === '' ? null : key.id,
    key_file: key.file === '' ? null : key.file,
    admin_url: adminUrlOf(listeners),
    pid: process.pid,
  };
}
