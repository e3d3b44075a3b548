import { createHash, sign } from 'node:crypto';
import t from 'tap';
import { fixtureRing } from './fixture-keys.js';
import { isSignedWithRing } from './ssh-signature.js';
import { privateKey } from './test/forge.js';

const RING = fixtureRing(0);
const PAYLOAD = Buffer.from('tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nm\n');

function string(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/**
 * Encodes an unsigned big-endian number as the SSH type `mpint`, which has no leading zero bytes. The highest bit is
 * the sign, so one zero byte is added if it is set.
 */
function mpint(number: Buffer): Buffer {
  const first = number.findIndex((byte) => byte !== 0);
  const short = number.subarray(first);
  return string(short[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), short]) : short);
}

interface Parts {
  readonly scheme: string;
  readonly key: string;
  /** Name of the signature's hash algorithm. */
  readonly hash: string;
  readonly digest?: string;
  readonly namespace?: string;
  readonly magic?: string;
  readonly version?: number;
}

const EC: Parts = { scheme: 'ecdsa-sha2-nistp256', key: 'es256', hash: 'sha256' };
const RSA: Parts = { scheme: 'rsa-sha2-256', key: 'rs256', hash: 'sha256' };

/** Returns an SSH signature in the binary format of OpenSSH's PROTOCOL.sshsig. */
function blobOf(parts: Parts): Buffer {
  const { scheme, key, hash, digest = 'sha512', namespace = 'git', magic = 'SSHSIG', version = 1 } = parts;
  const hashed = createHash(digest).update(PAYLOAD).digest();
  const signed = Buffer.concat([Buffer.from('SSHSIG'), ...[namespace, '', digest, hashed].map(string)]);
  const raw = sign(hash, signed, { key: privateKey(key), dsaEncoding: 'ieee-p1363' });
  const half = raw.length / 2;
  const bytes = key === 'rs256' ? raw : Buffer.concat([mpint(raw.subarray(0, half)), mpint(raw.subarray(half))]);
  const signature = Buffer.concat([string(scheme), string(bytes)]);
  return Buffer.concat([
    Buffer.from(magic),
    Buffer.of(0, 0, 0, version),
    ...['public key', namespace, '', digest, signature].map(string),
  ]);
}

const armour = (blob: Buffer) =>
  `-----BEGIN SSH SIGNATURE-----\n${blob.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END SSH SIGNATURE-----\n`;
const isGood = (blob: Buffer, payload = PAYLOAD) => isSignedWithRing(armour(blob), payload, RING);

t.test('signatures of every kind of key are verified, with numbers of different lengths', async (t) => {
  const schemes: Parts[] = [
    EC,
    { scheme: 'ecdsa-sha2-nistp384', key: 'es384', hash: 'sha384' },
    { scheme: 'ecdsa-sha2-nistp521', key: 'es512', hash: 'sha512' },
    RSA,
    { scheme: 'rsa-sha2-512', key: 'rs256', hash: 'sha512' },
  ];
  for (const parts of schemes) {
    const results = Array.from({ length: 12 }, () => isGood(blobOf(parts)));
    t.notOk(results.includes(false), parts.scheme);
  }
  t.ok(isGood(blobOf({ ...EC, digest: 'sha256' })), 'the digest may be either');
  t.ok(isGood(blobOf({ ...EC, key: 'restricted' })), 'any key of the ring');
});

t.test('signatures with another namespace, hash or key are refused', async (t) => {
  const others: Record<string, Parts> = {
    'another namespace': { ...EC, namespace: 'file' },
    'another digest': { ...EC, digest: 'sha384' },
    'a scheme of another curve': { ...EC, scheme: 'ecdsa-sha2-nistp384' },
    'a scheme that is not known': { ...EC, scheme: 'ssh-ed25519' },
    'a hash that is not the one of the scheme': { ...RSA, hash: 'sha512' },
    'a key of another organization': { ...EC, key: 'second' },
    'a deleted key': { ...EC, key: 'deleted' },
    'another magic': { ...EC, magic: 'SSHSIX' },
    'another version': { ...EC, version: 2 },
  };
  for (const [title, parts] of Object.entries(others)) t.equal(isGood(blobOf(parts)), false, title);
  t.equal(isGood(blobOf(EC), Buffer.from('other')), false, 'another payload');
});

t.test('truncated signatures, and signatures with other content, are refused', async (t) => {
  for (const parts of [EC, RSA]) {
    const blob = blobOf(parts);
    const accepted = Array.from(blob, (_, length) => length).filter((length) => isGood(blob.subarray(0, length)));
    t.same(accepted, [], `${parts.scheme}, cut off`);
    const trailing = [1, 4].filter((more) => isGood(Buffer.concat([blob, Buffer.alloc(more)])));
    t.same(trailing, [4], 'a further string is passed over, a piece of one is not');
  }
  const numbers = (...all: Buffer[]) => {
    const signature = Buffer.concat([string(EC.scheme), string(Buffer.concat(all.map(string)))]);
    const fields = ['public key', 'git', '', 'sha512', signature].map(string);
    return isGood(Buffer.concat([Buffer.from('SSHSIG'), Buffer.of(0, 0, 0, 1), ...fields]));
  };
  const [one, none] = [Buffer.of(1), Buffer.alloc(0)];
  for (const all of [[], [one], [one, one], [one, one, one], [none, one], [one, none]]) t.equal(numbers(...all), false);
  for (const length of [66, 67, 68, 200, 70_000])
    t.equal(numbers(Buffer.alloc(length, 1), one), false, `${length} bytes`);
});

t.test('armour', async (t) => {
  const good = armour(blobOf(EC));
  t.ok(isSignedWithRing(`${good}\n\n`, PAYLOAD, RING), 'line feeds after it');
  for (const text of [
    '',
    ` ${good}`,
    `${good}x`,
    good.replace('BEGIN SSH', 'BEGIN PGP'),
    good.replace('-----END SSH SIGNATURE-----', ''),
    good.replace('\n', '\r\n'),
    good.trimEnd() + ' '.repeat(17_000),
    good.replace('-----END', `${'\n'.repeat(17_000)}-----END`),
  ]) {
    t.equal(isSignedWithRing(text, PAYLOAD, RING), false);
  }
  const long = good.replace('\n-----END', `${'\n'.repeat(16 * 1024 - good.length + 1)}-----END`);
  t.equal(long.length, 16 * 1024);
  t.ok(isSignedWithRing(long, PAYLOAD, RING), 'as long as it may be');
});
