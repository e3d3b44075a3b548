import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { OptionError } from '../config/option-values.js';
import { packageFile } from '../system/package-root.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Environment variables that name a file of trusted certificates. Their readers, in this order: Git, Node, OpenSSL
 * (Python, Ruby, …), requests, curl.
 */
const TRUST_VARIABLES = [
  'GIT_SSL_CAINFO',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
] as const;

/** Files in which Linux distributions store trusted certificates. The first one that exists is used. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/**
 * Writes a file with `certificate` and all certificates that the system and the environment variables trust. The file
 * is in its own temporary folder, and only this user can read it. `remove` deletes the file and the folder.
 */
export async function writeTrust(certificate: string, environment: Environment) {
  const certificates = new Set([...certificatesIn(certificate), ...(await trustedCertificates(environment))]);
  const folder = await mkdtemp(join(tmpdir(), 'emulator-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'ca-bundle.pem');
    await writeFile(file, `${[...certificates].join('\n')}\n`, { mode: 0o600, flag: 'wx' });
    return { folder, file, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns all certificates (PEM) that the system and the environment variables trust. */
export async function trustedCertificates(environment: Environment): Promise<string[]> {
  const system = await firstOf(SYSTEM_BUNDLES);
  const given = [...new Set(TRUST_VARIABLES.map((name) => environment[name]).filter((file) => file))] as string[];
  const texts = [system || rootCertificates.join('\n'), ...(await Promise.all(given.map(read)))];
  return [...new Set(texts.flatMap(certificatesIn))];
}

function certificatesIn(text: string): readonly string[] {
  return text.match(CERTIFICATE) ?? [];
}

async function firstOf(files: readonly string[]): Promise<string> {
  for (const file of files) {
    const text = await read(file);
    if (text !== '') return text;
  }
  return '';
}

async function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/** Returns environment variables that make clients trust the certificates in `file`. */
export function trustVariables(file: string): Record<string, string> {
  return Object.fromEntries(TRUST_VARIABLES.map((name) => [name, file]));
}

/**
 * Returns a function that selects the proxy for a host, according to `https_proxy`. It returns undefined if the
 * variable is not set, or if `no_proxy` contains the host. Throws `OptionError` if the proxy's scheme is not http or
 * https.
 */
export function readOuterProxy(environment: Environment): (host: string, port: number) => URL | undefined {
  const given = environment.https_proxy || environment.HTTPS_PROXY;
  if (!given) return () => undefined;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    // Leaves the value of `https_proxy` out of the message, because it may contain a password.
    throw new OptionError(
      'https_proxy must be an http or https address, because connections to other hosts go through that proxy.',
    );
  }
  const direct = entriesOf(environment);
  return (host, port) => (direct.some((entry) => covers(entry, host, port)) ? undefined : url);
}

/**
 * Returns environment variables that make clients use the proxy at `url`. `dropped` lists entries that were removed
 * from `no_proxy`: with them, clients would bypass the proxy for `hosts`.
 */
export function proxyVariables(
  environment: Environment,
  { url, hosts }: { readonly url: string; readonly hosts: readonly string[] },
) {
  const entries = entriesOf(environment);
  const dropped = entries.filter((entry) => hosts.some((host) => covers(entry, host)));
  const direct = [...new Set([...entries.filter((entry) => !dropped.includes(entry)), ...OWN_NAMES])].join(',');
  return {
    dropped,
    variables: {
      https_proxy: url,
      HTTPS_PROXY: url,
      no_proxy: direct,
      NO_PROXY: direct,
      // Node (22.21 or 24.5 and later) reads the proxy variables only if this variable is set.
      NODE_USE_ENV_PROXY: '1',
      ...(servesProxyVariables(process.versions.node)
        ? {}
        : { NODE_OPTIONS: withProxyModule(environment.NODE_OPTIONS) }),
    },
  };
}

/** Names and addresses of this machine. Clients must reach them without a proxy. */
const OWN_NAMES = ['localhost', '127.0.0.1', '::1'];

/** Returns the entries of `no_proxy` and `NO_PROXY`, without duplicates. */
function entriesOf({ no_proxy = '', NO_PROXY = '' }: Environment): string[] {
  return [...new Set(`${no_proxy},${NO_PROXY}`.split(/[\s,]+/).filter((entry) => entry))];
}

/**
 * Returns true if an entry of `no_proxy` matches the host for at least one known client. Clients differ in how they
 * treat `*.` and ports. If `port` is given, an entry with another port does not match.
 */
function covers(entry: string, host: string, port?: number): boolean {
  const [, text = '', digits] = /^(\[.*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  if (port !== undefined && digits !== undefined && Number(digits) !== port) return false;
  const name = text
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\.?/, '')
    .replace(/\.$/, '');
  const plain = host.replace(/^\[|\]$/g, '');
  return entry === '*' || (name !== '' && (plain === name || plain.endsWith(`.${name}`) || isWithin(plain, name)));
}

/** Returns true if an IP address belongs to a network such as `10.0.0.0/8`. */
function isWithin(address: string, network: string): boolean {
  const [, base = '', bits] = /^(.+)\/(\d{1,3})$/.exec(network) ?? [];
  const kind = isIP(address);
  if (kind === 0 || kind !== isIP(base) || Number(bits) > (kind === 4 ? 32 : 128)) return false;
  const family = kind === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(base, Number(bits), family);
  return list.check(address, family);
}

/**
 * Returns true if this Node version reads the proxy variables for `fetch`, `http` and `https`. Node's documentation of
 * `NODE_USE_ENV_PROXY`: added in v24.0.0 and v22.21.0; `http` and `https` as of v24.5.0.
 */
export function servesProxyVariables(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

/**
 * Adds an import of `env-proxy.ts` to `NODE_OPTIONS`, which makes older Node versions use the proxy. The module is
 * given as a URL, because a URL contains no spaces or quotes that would need escaping.
 */
function withProxyModule(options: string | undefined): string {
  const url = pathToFileURL(packageFile('dist', 'bundle', 'emulator', 'env-proxy.cjs')).href.replaceAll("'", '%27');
  return [options, `--import=${url}`].filter((part) => part).join(' ');
}
