import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';

export type KeyRole = 'main' | 'restricted' | 'deleted' | 'second' | 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** Deliberate defect of a token. */
export type Defect =
  /** Signed by a key that is not registered. */
  | 'foreign-key'
  /** One byte of the payload changed after signing. */
  | 'tampered'
  /** No signature at all. */
  | 'unsigned'
  /** HMAC signature whose secret is the text of the public key. */
  | 'hmac-public-key'
  /** The header's `alg` differs from the algorithm of the signature. */
  | 'mislabelled'
  /**
   * Algorithm that tokens may not use, selected by the header's `alg`: RSA-PSS instead of PKCS#1 v1.5, SHA-384 or
   * SHA-512 with RSA, Ed25519, or secp256k1.
   */
  | 'algorithm';

/**
 * Description of a token. It is plain data, so that a report can print it and `conformance token` can create the token
 * again.
 */
export interface TokenRecipe {
  readonly repo?: string;
  readonly scopes?: readonly string[];
  /** Seconds between `iat` and `exp`. Default 600. */
  readonly lifetime?: number;
  /** Overrides claims; null removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Overrides header members; null removes a member. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: KeyRole;
  readonly defect?: Defect;
}

/** Applies the defaults of the token helpers of the published clients: a lifetime of one year, and both Git scopes. */
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

/** Seconds for which the signer reuses the token of a recipe. */
const KEPT = 10;

/**
 * Creates the signer of one target. `now` returns milliseconds since the epoch. Tokens are cached for a few seconds,
 * because most requests of a run use one of a few recipes.
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

/** Keys of a target by role. Named roles (main, restricted, deleted, second) come first, then the algorithms. */
export function keysOf({ key: main, restrictedKey, deletedKey, second, otherKeys }: Target): Map<KeyRole, SigningKey> {
  const named = defined({ main, restricted: restrictedKey, deleted: deletedKey, second: second?.key });
  const others = [...otherKeys, main].map((key) => [key.algorithm, key] as const);
  return new Map([...(Object.entries(named) as [KeyRole, SigningKey][]), ...others]);
}

/**
 * Creates the token of a recipe. `seconds` is its time of issue, in seconds since the epoch. The token is signed
 * without a JWT library, because libraries refuse to create defective tokens.
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

/**
 * Signs with a permitted algorithm (RFC 7518, sections 3.3 and 3.4): PKCS#1 v1.5 for RS256; for ECDSA, the signature is
 * the concatenation of r and s.
 */
function signWith(algorithm: string, input: Buffer, key: KeyObject): Buffer {
  const hash = `sha${algorithm.slice(2)}`;
  return algorithm.startsWith('ES')
    ? signBytes(hash, input, { key, dsaEncoding: 'ieee-p1363' })
    : signBytes(hash, input, key);
}

/** Signs with an algorithm that tokens may not use. */
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

/** Generates a key of the same type and curve, which is not registered. */
function unregisteredKeyLike(key: SigningKey): KeyObject {
  if (key.algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const curve = key.privateKey.asymmetricKeyDetails?.namedCurve ?? 'prime256v1';
  return generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
}
