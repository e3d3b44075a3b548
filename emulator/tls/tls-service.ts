import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { OptionError } from '../config/option-values.js';
import type { Identity } from './authority.js';
import { type MachineTime, machineTime, RenewedIdentity } from './renewal.js';

/** Re-exported, because `node:https` is loaded together with this file, only when needed. */
export const createSecureServer = createServer;

/** TLS identity of the ports that speak TLS. */
export interface TlsService {
  readonly identity: Identity;
  /** Certificates to trust, as PEM: the CA certificate, or the given certificates. */
  readonly trust: string;
  /** Renewal of the identity; undefined for a given certificate. */
  readonly renewal?: RenewedIdentity;
}

/**
 * Creates a certificate authority in memory, which no other process uses, and a server certificate for exactly `names`.
 * The certificate is renewed before it expires, until the returned service is closed.
 */
export async function createTls(names: readonly string[], time: MachineTime = machineTime): Promise<TlsService> {
  const { createAuthority } = await import('./authority.js');
  const authority = await createAuthority(time.now());
  const issue = () => authority.issue(names, time.now());
  const identity = await issue();
  return { identity, trust: authority.certificate, renewal: new RenewedIdentity(identity, issue, time) };
}

/** Reads a given certificate and the chain in the same file. Throws `OptionError`. */
export async function readTls(certFile: string, keyFile: string): Promise<TlsService> {
  const [cert, key] = await Promise.all([read('--tls-cert', certFile), read('--tls-key', keyFile)]);
  const certificate = parse(`--tls-cert ${certFile} contains no certificate (PEM)`, () => new X509Certificate(cert));
  const privateKey = parse(`--tls-key ${keyFile} contains no private key without a passphrase (PEM)`, () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new OptionError(`--tls-key ${keyFile} is not the key of the certificate in ${certFile}.`);
  }
  return {
    identity: { cert, key },
    trust: cert
      .match(CERTIFICATES)!
      .map((each) => `${each}\n`)
      .join(''),
  };
}

/** Certificates in PEM (RFC 7468, section 5). The file may contain other items, such as the private key. */
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
