import type { OrganizationAddress } from '../admin/address-members.js';
import { ADMIN_PREFIX } from '../admin/path.js';
import type { Listener } from './listeners.js';
import type { SigningKey } from './registered-keys.js';

export type { OrganizationAddress, SecureAddress } from '../admin/address-members.js';

/**
 * Returns the public form of a listener's address. `isSecure` is true if HTTPS is for all clients, and not only for
 * hosts that clients have built in.
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

/** Returns the part of a URL after `//`, which follows the credentials in the URL of a Git remote. */
function hostOf(url: string): string {
  return url.slice(url.indexOf('://') + 3);
}

/** @internal */
export function adminUrlOf([first]: readonly Listener[]): string {
  return `${first!.shown.baseUrl}${ADMIN_PREFIX}`;
}

/** Returns what the ready line says about a running service. @internal */
export function runningAt(listeners: readonly Listener[], key: SigningKey, isSecure: boolean) {
  return {
    orgs: listeners.map((listener) => addressOf(listener, isSecure)),
    keyId: key.id,
    keyFile: key.file,
    adminUrl: adminUrlOf(listeners),
  };
}
