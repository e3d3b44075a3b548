import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';

export type KeyRole = 'main' | 'restricted' | 'deleted' | 'second' | 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** Deliberate defect of a token. Rules send such tokens to check that the target refuses them. */
export type Defect =
  /** Signed with a new key that is not registered at the target. */
  | 'foreign-key'
  /** Signed with a new key that is not registered at the target, and whose public key is the `jwk` of the header. */
  | 'embedded-key'
  /** One byte of the payload is changed after signing, so that the signature does not match. */
  | 'tampered'
  /** Header and claims of a valid token, with one changed byte in the signature. */
  | 'other-signature'
  /** Empty signature, and `none` as the `alg` of the header, unless `header` of the recipe sets another. */
  | 'unsigned'
  /**
   * HMAC signature with the PEM text of the public key as its secret. A server that selects the algorithm by the header
   * and not by the key would accept it. The `alg` is HS256, unless `header` of the recipe sets HS384 or HS512.
   */
  | 'hmac-public-key'
  /** The `alg` of the header, set by `header` of the recipe, is not the algorithm with which the token is signed. */
  | 'mislabelled'
  /**
   * Signed by an EC key with the hash function of another curve, that of the `alg` set by `header` of the recipe. A
   * server that does not compare the curve of the key with `alg` would accept it.
   */
  | 'wrong-curve'
  /**
   * Signed with an algorithm that tokens may not use, selected by the `alg` of the header: RSA-PSS instead of PKCS#1
   * v1.5, SHA-384 or SHA-512 with RSA, Ed25519, or secp256k1.
   */
  | 'algorithm';

/**
 * Description of a token (JSON Web Token) that a rule sends. It contains no key and no signature, so that a report can
 * print it, and `conformance token` can create the token again.
 */
export interface TokenRecipe {
  readonly repo?: string;
  readonly scopes?: readonly string[];
  /** Seconds between issue (`iat`) and expiry (`exp`). Default: 600. */
  readonly lifetime?: number;
  /** Claims that replace or extend the default claims, by name. A null removes the claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Members that replace or extend the default header members, by name. A null removes the member. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: KeyRole;
  readonly defect?: Defect;
}

/**
 * Fills in the scopes and the lifetime that the token helpers of the published clients use by default: both Git scopes,
 * and a lifetime of one year in seconds.
 */
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

/** Number of seconds for which the signer reuses a token that it signed for an equal recipe. */
const KEPT = 10;

/**
 * Creates the signer of tokens for one target. Tokens are cached for `KEPT` seconds by recipe (description of a token),
 * because most requests of a run use one of a few recipes. `now`: returns the current time in milliseconds since the
 * epoch.
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

/**
 * Returns the keys of a target by role (main, restricted, deleted, second) and by algorithm. For each algorithm, the
 * last matching key is used; the main key takes precedence over `otherKeys`.
 */
export function keysOf({ key: main, restrictedKey, deletedKey, second, otherKeys }: Target): Map<KeyRole, SigningKey> {
  const named = defined({ main, restricted: restrictedKey, deleted: deletedKey, second: second?.key });
  const others = [...otherKeys, main].map((key) => [key.algorithm, key] as const);
  return new Map([...(Object.entries(named) as [KeyRole, SigningKey][]), ...others]);
}

/**
 * Creates the token that a recipe describes, including its deliberate defect. No JWT library is used, because libraries
 * refuse to create defective tokens. `seconds`: time of issue in seconds since the epoch.
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
    case 'embedded-key': {
      const foreign = unregisteredKeyLike(key);
      const jwk = createPublicKey(foreign).export({ format: 'jwk' });
      return assemble({ ...header, jwk }, claims, (input) => signWith(key.algorithm, input, foreign));
    }
    case 'tampered': {
      const [head, , signature] = signed().split('.');
      return `${head}.${encode({ ...claims, sub: 'Conformance' })}.${signature}`;
    }
    case 'other-signature':
      return assemble(header, claims, (input) => {
        const signature = signWith(key.algorithm, input, key.privateKey);
        signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
        return signature;
      });
    case 'unsigned':
      return assemble({ ...header, alg: recipe.header?.alg ?? 'none' }, claims, () => Buffer.alloc(0));
    case 'hmac-public-key': {
      const pem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' });
      const alg = String(recipe.header?.alg ?? 'HS256');
      const hash = `sha${alg.slice(2)}`;
      return assemble({ ...header, alg }, claims, (input) => createHmac(hash, pem).update(input).digest());
    }
    case 'wrong-curve':
      return assemble(header, claims, (input) => signWith(String(header.alg), input, key.privateKey));
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
 * Signs with an algorithm that tokens may use (RFC 7518, sections 3.3 and 3.4): PKCS#1 v1.5 for RS256, ECDSA for names
 * that begin with `ES`. The ECDSA signature is the concatenation of r and s, as JWTs require, and not DER.
 */
function signWith(algorithm: string, input: Buffer, key: KeyObject): Buffer {
  const hash = `sha${algorithm.slice(2)}`;
  return algorithm.startsWith('ES')
    ? signBytes(hash, input, { key, dsaEncoding: 'ieee-p1363' })
    : signBytes(hash, input, key);
}

/**
 * Signs with an algorithm that tokens may not use, for rules that check the refusal. Ed25519 and secp256k1 signatures
 * use a new key. If an RSA algorithm is requested and `key` is not an RSA key, the key's own algorithm is used instead.
 */
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

/**
 * Generates a private key of the same type and curve as `key`. It is not registered at the target, so tokens signed
 * with it must be refused.
 */
function unregisteredKeyLike(key: SigningKey): KeyObject {
  if (key.algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const curve = key.privateKey.asymmetricKeyDetails?.namedCurve ?? 'prime256v1';
  return generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
}
