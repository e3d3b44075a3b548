import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';

export type KeyRole = 'main' | 'restricted' | 'deleted' | 'second' | 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** One thing that is wrong with a token, on purpose. */
export type Defect =
  /** Signed by a key that is not registered. */
  | 'foreign-key'
  /** One byte of the payload changed after signing. */
  | 'tampered'
  /** No signature at all. */
  | 'unsigned'
  /** HMAC, with the text of the public key as secret. */
  | 'hmac-public-key'
  /** The header names another algorithm than the signature has. */
  | 'mislabelled'
  /** RSA-PSS instead of PKCS#1 v1.5, SHA-384 or SHA-512 under RSA, Ed25519, secp256k1: by the header's `alg`. */
  | 'algorithm';

/** How a token is made. Plain data, so that a report can print it and `conformance token` can repeat it. */
export interface TokenRecipe {
  readonly repo?: string;
  readonly scopes?: readonly string[];
  /** Seconds between `iat` and `exp`. Default 600. */
  readonly lifetime?: number;
  /** Merged over the claims; null removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Merged over the header; null removes a member. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: KeyRole;
  readonly defect?: Defect;
}

/** What the token helpers of the published clients make of what they are told: a year, and both Git scopes. */
export function withClientDefaults({
  scopes = ['git:write', 'git:read'],
  lifetime = 31_536_000,
  ...rest
}: TokenRecipe = {}): TokenRecipe {
  return { scopes, lifetime, ...rest };
}

export interface Signer {
  sign(recipe: TokenRecipe): string;
  key(role: KeyRole): SigningKey | undefined;
}

/** Seconds for which the same recipe gives the same token. */
const KEPT = 10;

/**
 * Signs for one target. `now` gives milliseconds since the epoch. A token is given again when the same one is asked for a
 * little later: most requests of a run carry one of few.
 */
export function createSigner(target: Target, now: () => number): Signer {
  const keys = keysOf(target);
  const kept = new Map<string, string>();
  let keptFrom = 0;
  return {
    key: (role) => keys.get(role),
    sign: (recipe) => {
      const key = keys.get(recipe.key ?? 'main');
      if (key === undefined) throw new Error(`no ${recipe.key} key was given`);
      const org = recipe.key === 'second' ? (target.second?.org ?? target.org) : target.org;
      const seconds = Math.floor(now() / 1000);
      if (seconds < keptFrom || seconds >= keptFrom + KEPT) {
        kept.clear();
        keptFrom = seconds;
      }
      const name = JSON.stringify(recipe);
      const token = kept.get(name) ?? signRecipe(recipe, key, org, seconds);
      kept.set(name, token);
      return token;
    },
  };
}

/** The keys of a target by their roles, named roles first. */
export function keysOf({ key: main, restrictedKey, deletedKey, second, otherKeys }: Target): Map<KeyRole, SigningKey> {
  const named = defined({ main, restricted: restrictedKey, deleted: deletedKey, second: second?.key });
  const others = [...otherKeys, main].map((key) => [key.algorithm, key] as const);
  return new Map([...(Object.entries(named) as [KeyRole, SigningKey][]), ...others]);
}

/**
 * The token of a recipe. `seconds` is the time it is issued at. Signed by hand, because a library refuses to make the
 * broken ones.
 */
export function signRecipe(recipe: TokenRecipe, key: SigningKey, org: string, seconds: number): string {
  const claims = without({
    iss: org,
    sub: 'conformance',
    scopes: recipe.scopes ?? ['git:read'],
    repo: recipe.repo ?? null,
    iat: seconds,
    exp: seconds + (recipe.lifetime ?? 600),
    ...recipe.claims,
  });
  const header = without({ alg: key.algorithm, typ: 'JWT', ...recipe.header });
  const signed = () => assemble(header, claims, (input) => signWith(key.algorithm, input, key.privateKey));
  switch (recipe.defect) {
    case 'foreign-key':
      return assemble(header, claims, (input) => signWith(key.algorithm, input, unregisteredKeyLike(key)));
    case 'tampered': {
      const [head, , signature] = signed().split('.');
      return `${head}.${encode({ ...claims, sub: 'Conformance' })}.${signature}`;
    }
    case 'unsigned':
      return assemble({ ...header, alg: 'none' }, claims, () => Buffer.alloc(0));
    case 'hmac-public-key': {
      const pem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' });
      return assemble({ ...header, alg: 'HS256' }, claims, (input) => createHmac('sha256', pem).update(input).digest());
    }
    case 'algorithm':
      return assemble(header, claims, (input) => signUnlisted(String(header.alg), input, key));
    default:
      return signed();
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function without(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}

function assemble(header: JsonObject, claims: JsonObject, sign: (input: Buffer) => Buffer): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${sign(Buffer.from(input)).toString('base64url')}`;
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** RFC 7518, 3.3 and 3.4: PKCS#1 v1.5 for RS256, the raw concatenation of r and s for ECDSA. */
function signWith(algorithm: string, input: Buffer, key: KeyObject): Buffer {
  const hash = `sha${algorithm.slice(2)}`;
  return algorithm.startsWith('ES')
    ? signBytes(hash, input, { key, dsaEncoding: 'ieee-p1363' })
    : signBytes(hash, input, key);
}

/** Signatures of algorithms that no token may use. */
function signUnlisted(algorithm: string, input: Buffer, key: SigningKey): Buffer {
  if (algorithm === 'EdDSA') return signBytes(null, input, generateKeyPairSync('ed25519').privateKey);
  if (algorithm === 'ES256K') {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    return signBytes('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  }
  if (key.privateKey.asymmetricKeyType !== 'rsa') return signWith(key.algorithm, input, key.privateKey);
  if (algorithm.startsWith('PS')) {
    return signBytes(`sha${algorithm.slice(2)}`, input, { key: key.privateKey, padding: 6, saltLength: -1 });
  }
  return signBytes(`sha${algorithm.slice(2)}`, input, key.privateKey);
}

/** A new key of the same kind. */
function unregisteredKeyLike(key: SigningKey): KeyObject {
  if (key.algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const curve = key.privateKey.asymmetricKeyDetails?.namedCurve ?? 'prime256v1';
  return generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
}
