import type { OrganizationAddress } from '../admin/address-members.js';
import { ADMIN_PREFIX } from '../admin/path.js';
import type { Listener } from './listeners.js';
import type { SigningKey } from './registered-keys.js';

export type { OrganizationAddress, SecureAddress } from '../admin/address-members.js';

/**
 * Returns the addresses of one organization as the emulator reports them. `isSecure` is true if all clients can use
 * HTTPS. It is false if HTTPS is served only for host names that are fixed in clients.
 *
 * @internal
 */
export function addressOf(
  { org, origin: own, shown: { baseUrl, gitUrl }, secure }: Listener,
  isSecure: boolean,
): OrganizationAddress {
  const isHidden = baseUrl !== own || gitUrl !== own;
  const address = { org, baseUrl, gitUrl, gitHost: hostOf(gitUrl), ...(isHidden && { localUrl: own }) };
  if (!isSecure || !secure) return address;
  const { origin, host } = secure;
  return { ...address, https: { baseUrl: origin, gitUrl: origin, gitHost: host } };
}

/** Returns the part of a URL after `//`. Git remote URLs with credentials have the credentials before this part. */
function hostOf(url: string): string {
  return url.slice(url.indexOf('://') + 3);
}

/** @internal */
export function adminUrlOf([first]: readonly Listener[]): string {
  return `${first!.shown.baseUrl}${ADMIN_PREFIX}`;
}

/** Returns the facts about a running service for the ready line (printed when the emulator has started). @internal */
export function runningAt(listeners: readonly Listener[], key: SigningKey, isSecure: boolean) {
  return {
    orgs: listeners.map((listener) => addressOf(listener, isSecure)),
    keyId: key.id,
    keyFile: key.file,
    adminUrl: adminUrlOf(listeners),
  };
}
