import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { OptionError } from '../config/option-values.js';
import type { Identity } from './authority.js';
import { type MachineTime, machineTime, RenewedIdentity } from './renewal.js';

/** Passed on from here, as `node:https` is loaded with this file, when it is needed. */
export const createSecureServer = createServer;

/** What the ports that speak TLS show. */
export interface TlsService {
  readonly identity: Identity;
  /** What a client has to trust, as PEM: the certificate of the authority, or the certificates that were given. */
  readonly trust: string;
  /** Where it is replaced in time. */
  readonly renewal?: RenewedIdentity;
}

/** A certificate of an authority of its own, which ends with the process, for `names` and nothing else; renewed until it is closed. */
export async function createTls(names: readonly string[], time: MachineTime = machineTime): Promise<TlsService> {
  const { createAuthority } = await import('./authority.js');
  const authority = await createAuthority(time.now());
  const issue = () => authority.issue(names, time.now());
  const identity = await issue();
  return { identity, trust: authority.certificate, renewal: new RenewedIdentity(identity, issue, time) };
}

/** A certificate that was given, with those behind it in the same file. Throws `OptionError`. */
export async function readTls(certFile: string, keyFile: string): Promise<TlsService> {
  const [cert, key] = await Promise.all([read('--tls-cert', certFile), read('--tls-key', keyFile)]);
  const certificate = parse(`--tls-cert ${certFile} holds no certificate (PEM)`, () => new X509Certificate(cert));
  const privateKey = parse(`--tls-key ${keyFile} holds no private key without a passphrase (PEM)`, () =>
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

/** RFC 7468, 5. A file may hold other things as well, its private key among them. */
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
