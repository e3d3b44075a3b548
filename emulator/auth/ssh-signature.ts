import { createHash, verify } from 'node:crypto';
import type { Algorithm, KeyRing } from './keys.js';

/** Maximum length of an armoured SSH signature, in characters. Real signatures have a few hundred. */
const MAX_TEXT = 16 * 1024;
const ARMOUR = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\n*$/;
const MAGIC = Buffer.from('SSHSIG');
/** Namespace in the SSH signatures that Git makes. Signatures for other purposes have other namespaces. */
const NAMESPACE = 'git';

interface Scheme {
  readonly algorithm: Algorithm;
  readonly hash: string;
}

/** Signature schemes of the keys that an organization can register, by SSH name (RFC 5656, RFC 8332). */
const SCHEMES: ReadonlyMap<string, Scheme> = new Map([
  ['ecdsa-sha2-nistp256', { algorithm: 'ES256', hash: 'sha256' }],
  ['ecdsa-sha2-nistp384', { algorithm: 'ES384', hash: 'sha384' }],
  ['ecdsa-sha2-nistp521', { algorithm: 'ES512', hash: 'sha512' }],
  ['rsa-sha2-256', { algorithm: 'RS256', hash: 'sha256' }],
  ['rsa-sha2-512', { algorithm: 'RS256', hash: 'sha512' }],
]);

/**
 * Returns true if `signature` signs `payload` with a key of `ring` (registered keys of an organization). `payload` is a
 * commit or tag without its signature. The format is the SSH signature that `git commit -S` makes if `gpg.format` is
 * `ssh`. All other signatures, including OpenPGP, give false.
 */
export function isSignedWithRing(signature: string, payload: Buffer, ring: KeyRing): boolean {
  const parts = parseSignature(signature);
  const scheme = parts && SCHEMES.get(parts.scheme);
  if (!scheme || parts.namespace !== NAMESPACE || !/^sha(256|512)$/.test(parts.digest)) return false;
  const digest = createHash(parts.digest).update(payload).digest();
  const signed = Buffer.concat([MAGIC, ...[parts.namespace, '', parts.digest, digest].map(lengthAndBytes)]);
  const bytes = scheme.algorithm === 'RS256' ? parts.bytes : derOf(parts.bytes);
  if (bytes === undefined) return false;
  return ring
    .candidates(scheme.algorithm)
    .some(({ publicKey }) => verify(scheme.hash, signed, { key: publicKey, dsaEncoding: 'der' }, bytes));
}

interface SshSignature {
  readonly namespace: string;
  /** Hash algorithm that was applied to the payload before it was signed. */
  readonly digest: string;
  readonly scheme: string;
  readonly bytes: Buffer;
}

/**
 * Parses an armoured SSH signature (OpenSSH, PROTOCOL.sshsig). The armour contains base64 of these fields:
 *
 *     byte[6]   "SSHSIG"
 *     uint32    1
 *     string    public key
 *     string    namespace
 *     string    reserved
 *     string    hash algorithm
 *     string    signature: string scheme, string bytes
 */
function parseSignature(text: string): SshSignature | undefined {
  const base64 = text.length > MAX_TEXT ? undefined : ARMOUR.exec(text)?.[1];
  if (base64 === undefined) return undefined;
  const raw = Buffer.from(base64, 'base64');
  if (!raw.subarray(0, 6).equals(MAGIC) || raw.length < 10 || raw.readUInt32BE(6) !== 1) return undefined;
  const [, namespace, , digest, signature] = strings(raw.subarray(10)) ?? [];
  const [scheme, bytes] = (signature && strings(signature)) ?? [];
  if (!namespace || !digest || !scheme || !bytes) return undefined;
  return { namespace: namespace.toString(), digest: digest.toString(), scheme: scheme.toString(), bytes };
}

/**
 * Splits a sequence of SSH `string`s (RFC 4251). Each string is a length in four bytes, followed by its content.
 * Returns undefined if the data ends within a string.
 */
function strings(raw: Buffer): Buffer[] | undefined {
  const found: Buffer[] = [];
  for (let at = 0; at < raw.length; ) {
    if (at + 4 > raw.length) return undefined;
    const end = at + 4 + raw.readUInt32BE(at);
    if (end > raw.length) return undefined;
    found.push(raw.subarray(at + 4, end));
    at = end;
  }
  return found;
}

function lengthAndBytes(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/**
 * Converts an ECDSA signature from SSH's format, a pair of numbers (RFC 5656, 3.1.2), to DER, which Node verifies. The
 * bytes of both numbers are copied unchanged, because both formats use the minimal number of bytes. DER format:
 * `Ecdsa-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }`.
 */
function derOf(pair: Buffer): Buffer | undefined {
  const numbers = strings(pair);
  if (numbers?.length !== 2 || numbers.some(({ length }) => length === 0 || length > 67)) return undefined;
  const content = Buffer.concat(numbers.flatMap((number) => [Buffer.of(0x02, number.length), number]));
  return Buffer.concat([
    content.length < 128 ? Buffer.of(0x30, content.length) : Buffer.of(0x30, 0x81, content.length),
    content,
  ]);
}
