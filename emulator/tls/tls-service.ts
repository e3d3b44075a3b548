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
  return { identity, trust: authority.certificate, renewal: new RenewedIdentity(identity, issue, time) };
}

/**
 * Reads a certificate with its chain and a private key from files that the user has given. Throws `OptionError` if they
 * are invalid or do not belong together.
 */
export async function readTls(certFile: string, keyFile: string): Promise<TlsService> {
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
