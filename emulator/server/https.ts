import type { EmulatorOptions } from '../config/options.js';
import type { GivenHost } from '../pipeline/target.js';
import type { MachineTime } from '../tls/renewal.js';
import type { HttpsParameters } from './https-parameters.js';
import type { ShownAddress } from './listeners.js';

/**
 * Host names of the real service, without ports, that are fixed in client programs. A proxy redirects requests for port
 * 443 of these hosts to the emulator.
 */
export interface BuiltInHosts {
  readonly api: readonly string[];
  readonly git: readonly string[];
  /**
   * Called before the emulator reports that it is ready. `port` serves these hosts. `trust` is the certificate (PEM)
   * that clients must trust.
   */
  readonly onListening: (port: number, trust: string) => void;
}

/**
 * Returns the parameters of the HTTPS servers, and the certificate (PEM) that clients must trust. Returns undefined if
 * HTTPS is not served. Throws `OptionError` if the given certificate or key is unusable.
 *
 * @internal
 */
export async function provideTls(
  options: EmulatorOptions,
  hosts: BuiltInHosts | undefined,
  time: MachineTime | undefined,
): Promise<{ readonly secured: HttpsParameters; readonly trust: string } | undefined> {
  const { tls, tlsCert, tlsKey } = options;
  if (!tls && !hosts) return undefined;
  const { createSecureServer: createServer, createTls, readTls } = await import('../tls/tls-service.js');
  const names = [...(hosts?.api ?? []), ...(hosts?.git ?? []), ...(tls ? ownNames(options) : [])];
  const { identity, trust, renewal, invalidIdentity } =
    tlsCert !== undefined && tlsKey !== undefined
      ? await readTls(tlsCert, tlsKey, names)
      : await createTls(names, time);
  return { secured: { createServer, identity, renewal, invalidIdentity }, trust };
}

/**
 * Returns the host names for the certificate: the names by which clients may reach the ports. Each organization is
 * listed separately, because a wildcard covers only one label, and clients accept no wildcard directly below
 * `localhost`.
 */
function ownNames(options: EmulatorOptions): string[] {
  const { host, org, allowedHost } = options;
  const isWildcard = host === '0.0.0.0' || host === '::';
  return [
    'localhost',
    '127.0.0.1',
    '::1',
    ...org.map((name) => `api.${name}.localhost`),
    '*.ns.localhost',
    ...(isWildcard ? [] : [host]),
    ...allowedHost.map((name) => name.replace(/:\d+$/, '')),
    ...publicHosts(options),
  ];
}

/**
 * Returns the host names of the configured public URLs. The emulator must accept them, because requests through these
 * URLs have them in the `Host` header. @internal
 */
export function publicHosts({ publicUrl, publicGitUrl }: EmulatorOptions): string[] {
  return [publicUrl, publicGitUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).hostname]));
}

/**
 * Returns the configured public URLs. Responses show them instead of the address of the first organization's port.
 * @internal
 */
export function shownAddress({ publicUrl, publicGitUrl }: EmulatorOptions): Partial<ShownAddress> {
  const gitUrl = publicGitUrl ?? publicUrl;
  return { ...(publicUrl !== undefined && { baseUrl: publicUrl }), ...(gitUrl !== undefined && { gitUrl }) };
}

/**
 * Returns the organization and the Git URL of each host name.
 *
 * - The organization is the second label of `api.<org>.<domain>`, or the first label of `<org>.<domain>`. If neither
 *   label is an organization, it is undefined, and the host belongs to the first organization.
 * - The Git URL of an API host names the first Git host of its organization. If the organization has none, it names the
 *   first of all Git hosts.
 *
 * @internal
 */
export function givenHosts({ api, git }: BuiltInHosts, orgs: readonly string[]): ReadonlyMap<string, GivenHost> {
  const organizationOf = (host: string): string | undefined => {
    const [first, second] = host.split('.');
    return orgs.find((org) => org === second) ?? orgs.find((org) => org === first);
  };
  const gitHostOf = (host: string): string =>
    git.includes(host) ? host : (git.find((other) => organizationOf(other) === organizationOf(host)) ?? git[0] ?? host);
  const all = [...new Set([...api, ...git])];
  return new Map(
    all.map((host) => [host, { organization: organizationOf(host), gitUrl: `https://${gitHostOf(host)}` }]),
  );
}
