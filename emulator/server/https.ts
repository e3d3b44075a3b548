import type { EmulatorOptions } from '../config/options.js';
import type { GivenHost } from '../pipeline/target.js';
import type { MachineTime } from '../tls/renewal.js';
import type { Secured } from './listen.js';
import type { ShownAddress } from './listeners.js';

/** Hosts that clients have built in, without ports. What they send to port 443 of these arrives here by a proxy. */
export interface BuiltInHosts {
  readonly api: readonly string[];
  readonly git: readonly string[];
  /** Told the port that serves them, and what to trust (PEM), before the emulator says that it is ready. */
  readonly onListening: (port: number, trust: string) => void;
}

/** What HTTPS is served with, and what clients have to trust; undefined where none is asked for. Throws `OptionError`. @internal */
export async function provideTls(
  options: EmulatorOptions,
  hosts: BuiltInHosts | undefined,
  time: MachineTime | undefined,
): Promise<{ readonly secured: Secured; readonly trust: string } | undefined> {
  const { tls, tlsCert, tlsKey } = options;
  if (!tls && !hosts) return undefined;
  const { createSecureServer: createServer, createTls, readTls } = await import('../tls/tls-service.js');
  const names = [...(hosts?.api ?? []), ...(hosts?.git ?? []), ...(tls ? ownNames(options) : [])];
  const { identity, trust, renewal } =
    tlsCert !== undefined && tlsKey !== undefined ? await readTls(tlsCert, tlsKey) : await createTls(names, time);
  return { secured: { createServer, identity, renewal }, trust };
}

/** By which a client may reach its ports. Wildcards cover one label, and clients take none directly below `localhost`. */
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

/** The hosts of the public addresses: requests that come by them name them. @internal */
export function publicHosts({ publicUrl, publicGitUrl }: EmulatorOptions): string[] {
  return [publicUrl, publicGitUrl].flatMap((url) => (url === undefined ? [] : [new URL(url).hostname]));
}

/** What answers show in place of the address of the first organization. @internal */
export function shownAddress({ publicUrl, publicGitUrl }: EmulatorOptions): Partial<ShownAddress> {
  const gitUrl = publicGitUrl ?? publicUrl;
  return { ...(publicUrl !== undefined && { baseUrl: publicUrl }), ...(gitUrl !== undefined && { gitUrl }) };
}

/**
 * What each host stands for. Its second label is the organization (`api.<org>.<domain>`), or its first
 * (`<org>.<domain>`); one that names none is the first organization's. Remotes are at the first Git host of the same
 * organization, or at the first of all.
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
