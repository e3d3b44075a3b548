import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { Integer, OctetString, Utf8String } from 'asn1js';
import {
  AttributeTypeAndValue,
  BasicConstraints,
  Certificate,
  CryptoEngine,
  Extension,
  ExtKeyUsage,
  GeneralName,
  GeneralNames,
} from 'pkijs';

/** Certificate and private key of an HTTPS server, as PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Server certificate that the certificate authority of this process has issued, with its validity. */
export interface Issued extends Identity {
  /** Start and end of the validity, in milliseconds since 1970. */
  readonly validity: { readonly from: number; readonly to: number };
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const DAY = 24 * 60 * 60 * 1000;
/**
 * Validity of the certificate of the authority (CA) in milliseconds. It is long, so that clients need to trust only one
 * certificate while the process runs. When the process ends, its private key is gone and nobody can use the
 * certificate.
 */
const YEAR = 365 * DAY;
/**
 * Time in milliseconds by which the validity of a certificate begins before now, because the clocks of clients may be
 * behind.
 */
const SKEW = 5 * 60 * 1000;

/** Object identifiers of certificate fields and extensions (RFC 5280, sections 4.2.1 and 4.2.1.12). */
const OID = {
  commonName: '2.5.4.3',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  subjectKeyIdentifier: '2.5.29.14',
  authorityKeyIdentifier: '2.5.29.35',
  serverAuth: '1.3.6.1.5.5.7.3.1',
};

/**
 * DER encodings of the extension "key usage" (RFC 5280, section 4.2.1.3): a BIT STRING, whose first content byte is the
 * number of unused bits. `sign` sets bit 0 (digitalSignature), `certify` sets bit 5 (keyCertSign).
 */
const KEY_USAGE = { sign: [0x03, 0x02, 0x07, 0x80], certify: [0x03, 0x02, 0x02, 0x04] };

/** Tags of the kinds of GeneralName in "subject alternative name" (RFC 5280, section 4.2.1.6). */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/**
 * Creates a new certificate authority for the HTTPS ports of this process. Its private key never leaves the memory of
 * the process. The certificates that it issues are valid for one day.
 *
 * `now` is the system time in milliseconds since 1970, because clients check certificates by it. The returned
 * `certificate` is that of the authority as PEM, which clients must trust.
 */
export async function createAuthority(now: number) {
  const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });
  // The key is not extractable, so that code of this process cannot read the private key either.
  const keys = (await webcrypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const own = await begin(keys.publicKey, { now, life: YEAR, subject: 'repohost-emulator, for this run only' });
  const identifier = await identifierOf(keys.publicKey);
  const constraints = new BasicConstraints({ cA: true, pathLenConstraint: 0 }).toSchema().toBER(false);
  own.issuer = own.subject;
  own.extensions = [
    extension(OID.basicConstraints, constraints, true),
    extension(OID.keyUsage, Uint8Array.from(KEY_USAGE.certify), true),
    extension(OID.subjectKeyIdentifier, new OctetString({ valueHex: identifier }).toBER(false)),
  ];
  await own.sign(keys.privateKey, 'SHA-256', engine);

  /**
   * Issues a server certificate for exactly the host names and IP addresses in `names`. `now`: time of issue, in
   * milliseconds since 1970.
   */
  const issue = async (names: readonly string[], now: number): Promise<Issued> => {
    const leaf = (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
    const certificate = await begin(leaf.publicKey, { now, life: DAY, subject: 'repohost-emulator' });
    const usage = new ExtKeyUsage({ keyPurposes: [OID.serverAuth] }).toSchema().toBER(false);
    certificate.issuer = own.subject;
    certificate.extensions = [
      extension(OID.basicConstraints, new BasicConstraints({ cA: false }).toSchema().toBER(false), true),
      extension(OID.keyUsage, Uint8Array.from(KEY_USAGE.sign), true),
      extension(OID.extendedKeyUsage, usage),
      extension(OID.subjectAltName, alternativeNames(names)),
      extension(OID.authorityKeyIdentifier, authorityIdentifier(identifier)),
    ];
    await certificate.sign(keys.privateKey, 'SHA-256', engine);
    const key = await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey);
    const validity = { from: certificate.notBefore.value.getTime(), to: certificate.notAfter.value.getTime() };
    return {
      cert: pem('CERTIFICATE', certificate.toSchema(true).toBER(false)),
      key: pem('PRIVATE KEY', key),
      validity,
    };
  };
  return { certificate: pem('CERTIFICATE', own.toSchema(true).toBER(false)), issue };

  async function begin(
    publicKey: webcrypto.CryptoKey,
    { now, life, subject }: { now: number; life: number; subject: string },
  ): Promise<Certificate> {
    const certificate = new Certificate();
    certificate.version = 2;
    // The serial number must be positive and have at most 20 octets (RFC 5280, section 4.1.2.2), so the first bit is
    // cleared.
    const serial = randomBytes(16);
    serial[0] = (serial[0]! & 0x7f) | 0x40;
    certificate.serialNumber = new Integer({ valueHex: serial });
    const value = new Utf8String({ value: subject });
    certificate.subject.typesAndValues.push(new AttributeTypeAndValue({ type: OID.commonName, value }));
    certificate.notBefore.value = new Date(now - SKEW);
    certificate.notAfter.value = new Date(now - SKEW + life);
    await certificate.subjectPublicKeyInfo.importKey(publicKey, engine);
    return certificate;
  }
}

function extension(extnID: string, value: ArrayBuffer | Uint8Array<ArrayBuffer>, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: value instanceof ArrayBuffer ? value : value.buffer });
}

function alternativeNames(names: readonly string[]): ArrayBuffer {
  const shown = [...new Set(names.map((name) => name.toLowerCase()))].map((name) => {
    const address = name.replace(/^\[|\]$/g, '');
    if (isIP(address) === 0) return new GeneralName({ type: DNS_NAME, value: name });
    return new GeneralName({ type: IP_ADDRESS, value: new OctetString({ valueHex: bytesOf(address) }) });
  });
  return new GeneralNames({ names: shown }).toSchema().toBER(false);
}

/**
 * Returns the bytes of an IP address in the form that a certificate contains: four or sixteen octets (RFC 5280, section
 * 4.2.1.6).
 */
function bytesOf(address: string): Uint8Array<ArrayBuffer> {
  if (isIP(address) === 4) return Uint8Array.from(address.split('.').map(Number));
  // The address is parsed as a URL, because this normalizes an IPv6 address to hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const [before, after] = [groups(head), groups(tail)];
  const between = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return Uint8Array.from(
    [...before, ...between, ...after].flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 0xff];
    }),
  );
}

/**
 * Returns the key identifier of a public key: the first 20 bytes of its SHA-256. RFC 5280, section 4.2.1.2, allows any
 * method that derives unique numbers from keys.
 */
async function identifierOf(key: webcrypto.CryptoKey): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await webcrypto.subtle.exportKey('spki', key);
  return new Uint8Array(await webcrypto.subtle.digest('SHA-256', bytes)).slice(0, 20);
}

/**
 * Returns the DER encoding of the extension "authority key identifier" (RFC 5280, section 4.2.1.1): SEQUENCE {
 * keyIdentifier [0] OCTET STRING }.
 */
function authorityIdentifier(identifier: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([0x30, identifier.length + 2, 0x80, identifier.length, ...identifier]);
}

/** Returns the PEM encoding (RFC 7468) of DER bytes. */
function pem(label: string, bytes: ArrayBuffer): string {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
