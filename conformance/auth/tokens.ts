import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';

export type KeyRole = 'main' | 'restricted' | 'deleted' | 'second' | 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** Deliberate defect of a token. Rules send defective tokens to check that the target refuses them. */
export type Defect =
  /** Signed with a new key that is not registered at the target. */
  | 'foreign-key'
  /**
   * Signed with a new key that is not registered at the target. The `jwk` header member contains the public key, so a
   * server that trusts this member would accept the token.
   */
  | 'embedded-key'
  /** One byte of the payload is changed after signing, so the signature does not match. */
  | 'tampered'
  /** Header and claims are valid, but one byte of the signature is changed. */
  | 'other-signature'
  /** The signature is empty. The `alg` is `none`, unless the recipe's `header` sets another value. */
  | 'unsigned'
  /**
   * HMAC signature whose secret is the PEM text of the public key. A server that chooses the algorithm from the header
   * instead of the key would accept it. The `alg` is HS256, unless the recipe's `header` sets HS384 or HS512.
   */
  | 'hmac-public-key'
  /** The token is signed with the key's algorithm, but the recipe's `header` sets another `alg`. */
  | 'mislabelled'
  /**
   * Signed by an EC key with a hash function that belongs to another curve. The recipe's `header` selects this hash
   * function through its `alg`. A server that does not compare the key's curve with `alg` would accept the token.
   */
  | 'wrong-curve'
  /**
   * Signed with an algorithm that tokens may not use: RSA-PSS instead of PKCS#1 v1.5, SHA-384 or SHA-512 with RSA,
   * Ed25519, or secp256k1. The `alg` of the header selects the algorithm.
   */
  | 'algorithm';

/**
 * Description of a token (JSON Web Token) that a rule sends. It contains no key and no signature, so a report can print
 * it. `conformance token` can create the token again from it.
 */
export interface TokenRecipe {
  readonly repo?: string;
  readonly scopes?: readonly string[];
  /** Seconds between issue (`iat`) and expiry (`exp`). Default: 600. */
  readonly lifetime?: number;
  /** Claims by name. They replace or extend the default claims; the value null removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Header members by name. They replace or extend the default members; the value null removes a member. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: KeyRole;
  readonly defect?: Defect;
}

/**
 * Fills in the default scopes and lifetime that the published clients use for their tokens: both Git scopes, and one
 * year in seconds.
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

/** Number of seconds for which the signer reuses a signed token for an equal recipe. */
const KEPT = 10;

/**
 * Creates the signer of tokens for one target. It caches tokens by recipe for `KEPT` seconds, because most requests of
 * a run use one of a few recipes. `now` returns the current time in milliseconds since the epoch.
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
 * Returns the keys of a target by role (main, restricted, deleted, second) and by algorithm. If several keys have the
 * same algorithm, the main key takes precedence, then the last of `otherKeys`.
 */
export function keysOf({ key: main, restrictedKey, deletedKey, second, otherKeys }: Target): Map<KeyRole, SigningKey> {
  const named = defined({ main, restricted: restrictedKey, deleted: deletedKey, second: second?.key });
  const others = [...otherKeys, main].map((key) => [key.algorithm, key] as const);
  return new Map([...(Object.entries(named) as [KeyRole, SigningKey][]), ...others]);
}

/**
 * Creates the token that a recipe describes, including its deliberate defect. JWT libraries refuse to create defective
 * tokens, so none is used. `seconds`: time of issue in seconds since the epoch.
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
 * Signs with an algorithm that tokens may use: ECDSA for names that begin with `ES`, otherwise PKCS#1 v1.5 (RFC 7518,
 * sections 3.3 and 3.4). JWTs require an ECDSA signature to be the concatenation of r and s, not DER.
 */
function signWith(algorithm: string, input: Buffer, key: KeyObject): Buffer {
  const hash = `sha${algorithm.slice(2)}`;
  return algorithm.startsWith('ES')
    ? signBytes(hash, input, { key, dsaEncoding: 'ieee-p1363' })
    : signBytes(hash, input, key);
}

/**
 * Signs with an algorithm that tokens may not use, so that rules can check the refusal. Ed25519 and secp256k1
 * signatures use a new key. RSA algorithms need an RSA key; if `key` is of another type, its own algorithm is used.
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
 * Generates a private key of the same type and curve as `key`. The target does not know this key, so it must refuse
 * tokens signed with it.
 */
function unregisteredKeyLike(key: SigningKey): KeyObject {
  if (key.algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const curve = key.privateKey.asymmetricKeyDetails?.namedCurve ?? 'prime256v1';
  return generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
}
