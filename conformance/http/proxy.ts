import { type Dispatcher, ProxyAgent } from 'undici';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy for requests to an origin, from the environment variable `https_proxy`. Returns undefined if the
 * variable is absent, if the origin is not https, or if `no_proxy` contains its host.
 *
 * No standard defines these variables. Most programs follow curl(1), section Environment: `no_proxy` is a
 * comma-separated list of hosts, each including its subdomains, or `*`.
 */
export function proxyOf(origin: string, environment: Environment = process.env): string | undefined {
  const { protocol, hostname } = new URL(origin);
  const proxy = environment.https_proxy || environment.HTTPS_PROXY;
  if (protocol !== 'https:' || !proxy) return undefined;
  const host = hostname.replace(/^\[|\]$/g, '');
  const entries = (environment.no_proxy ?? environment.NO_PROXY ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const isDirect = entries.some((entry) => {
    const name = entry.toLowerCase().replace(/^\*?\.?/, '');
    return entry === '*' || host === name || (name !== '' && host.endsWith(`.${name}`));
  });
  return isDirect ? undefined : proxy;
}

/**
 * Creates an undici dispatcher that sends requests through a tunnel of the proxy. If the proxy URL contains a user name
 * and password, they are sent to the proxy.
 */
export function proxied(proxy: string, options: Omit<ProxyAgent.Options, 'uri'>): Dispatcher {
  const { username, password, origin } = new URL(proxy);
  const credential = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return new ProxyAgent({ ...options, uri: origin, ...(username === '' ? {} : { token: `Basic ${credential}` }) });
}
