import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { OptionError } from '../config/option-values.js';
import type { Identity } from './authority.js';
import { type MachineTime, machineTime, RenewedIdentity } from './renewal.js';

/**
 * Function `createServer` of `node:https`. It is exported from this file, which is loaded only if HTTPS is needed, so
 * that other processes do not load `node:https`.
 */
export const createSecureServer = createServer;

/** Certificate and key of the ports that serve HTTPS, and the certificates that clients must trust. */
export interface TlsService {
  readonly identity: Identity;
  /**
   * Certificates that clients must trust, as PEM: the certificate of the authority in this process, or the given
   * certificates.
   */
  readonly trust: string;
  /** Renewal of a certificate that this process has issued; undefined for a certificate that the user has given. */
  readonly renewal?: RenewedIdentity;
  /** Returns a certificate that clients must refuse, with the same host names. Created on each call. */
  readonly invalidIdentity: (how: InvalidCertificate) => Promise<Identity>;
}

/** Reason why clients must refuse a certificate. */
export type InvalidCertificate = 'expired' | 'wrong-host';

/** Time by which the issue of an expired certificate lies before now, in milliseconds. Certificates last one day. */
const EXPIRED_AGE = 2 * 24 * 60 * 60 * 1000;
/** Host name of a certificate for another host. Names that end with `invalid` never exist (RFC 6761, section 6.4). */
const OTHER_HOST = 'wrong-host.invalid';

type Issue = (names: readonly string[], now: number) => Promise<Identity>;

function invalidBy(issue: Issue, names: readonly string[], time: MachineTime): TlsService['invalidIdentity'] {
  return (how) => (how === 'expired' ? issue(names, time.now() - EXPIRED_AGE) : issue([OTHER_HOST], time.now()));
}

/**
 * Creates a certificate authority in memory, which only this process uses, and a server certificate for exactly the
 * host names `names`. The certificate is renewed before it expires, until the `renewal` of the returned service is
 * closed.
 */
export async function createTls(names: readonly string[], time: MachineTime = machineTime): Promise<TlsService> {
  const { createAuthority } = await import('./authority.js');
  const authority = await createAuthority(time.now());
  const issue = () => authority.issue(names, time.now());
  const identity = await issue();
  return {
    identity,
    trust: authority.certificate,
    renewal: new RenewedIdentity(identity, issue, time),
    invalidIdentity: invalidBy(authority.issue, names, time),
  };
}

/**
 * Reads a certificate with its chain and a private key from files that the user has given. Throws `OptionError` if they
 * are invalid or do not belong together. `names` are the host names of invalid certificates for faults. The authority
 * that issued the given certificate is not available, so a new authority issues them.
 */
export async function readTls(certFile: string, keyFile: string, names: readonly string[] = []): Promise<TlsService> {
  const [cert, key] = await Promise.all([read('--tls-cert', certFile), read('--tls-key', keyFile)]);
  const certificate = parse(
    `--tls-cert must name a file with a certificate in PEM, but ${certFile} contains none`,
    () => new X509Certificate(cert),
  );
  const privateKey = parse(
    `--tls-key must name a file with a private key in PEM, without a passphrase, but ${keyFile} contains none`,
    () => createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new OptionError(`--tls-key ${keyFile} does not match the certificate in --tls-cert ${certFile}.`);
  }
  return {
    identity: { cert, key },
    trust: cert
      .match(CERTIFICATES)!
      .map((each) => `${each}\n`)
      .join(''),
    invalidIdentity: async (how) => {
      const { createAuthority } = await import('./authority.js');
      const { issue } = await createAuthority(machineTime.now());
      return invalidBy(issue, names, machineTime)(how);
    },
  };
}

/**
 * Pattern of a certificate in a PEM file (RFC 7468, section 5). The file may also contain other items, such as the
 * private key.
 */
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

async function read(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new OptionError(`${flag} cannot be read: ${(error as Error).message}.`);
  }
}

function parse<Value>(complaint: string, make: () => Value): Value {
  try {
    return make();
  } catch {
    throw new OptionError(`${complaint}.`);
  }
}
