import type { KeyObject } from 'node:crypto';
import type { Scope } from './scope.js';

/** Signature algorithms that tokens may use (specification, Token header). */
export type Algorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** Algorithm of an elliptic-curve key, by the OpenSSL name of its curve (RFC 7518, 3.4). */
const CURVES: ReadonlyMap<string | undefined, Algorithm> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

const ALGORITHMS: ReadonlySet<unknown> = new Set<Algorithm>(['ES256', 'ES384', 'ES512', 'RS256']);

export function isAlgorithm(value: unknown): value is Algorithm {
  return ALGORITHMS.has(value);
}

/**
 * Permitted sizes of RSA keys, in bits. RFC 7518, 3.3 forbids less than 2048. Keys above 8192 are refused, because
 * verifying one signature would take milliseconds.
 */
const RSA_BITS = { least: 2048, most: 8192 };

/**
 * Returns the algorithm of a key, which follows from the key's type and curve. Returns undefined if the key fits none
 * of the four algorithms.
 */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ec') return CURVES.get(details?.namedCurve);
  if (key.asymmetricKeyType !== 'rsa') return undefined;
  const bits = details?.modulusLength ?? 0;
  return bits >= RSA_BITS.least && bits <= RSA_BITS.most ? 'RS256' : undefined;
}

/**
 * Scopes that tokens of a key may have. `['*']` permits all scopes. A key with any other list is called a restricted
 * key.
 */
export type AllowedScopes = readonly ['*'] | readonly Scope[];

/** Maximum lifetime, in seconds, of a token that a restricted key (key with limited scopes) signed. */
export const RESTRICTED_LIFETIME = 3600;

/** Public key that an organization has registered. It never changes. The key material is loaded on first use. */
export class RegisteredKey {
  #publicKey: KeyObject | undefined;

  constructor(
    readonly kid: string,
    readonly algorithm: Algorithm,
    readonly allowedScopes: AllowedScopes,
    private readonly load: () => KeyObject,
  ) {}

  get publicKey(): KeyObject {
    this.#publicKey ??= this.load();
    return this.#publicKey;
  }

  get isRestricted(): boolean {
    return this.allowedScopes[0] !== '*';
  }
}

/**
 * Immutable set of the registered keys of one organization. A change of the keys creates a new ring. Caches of verified
 * tokens compare rings by identity, so a changed ring makes them verify the tokens again.
 */
export class KeyRing {
  readonly #byId = new Map<string, RegisteredKey>();
  readonly #byAlgorithm = new Map<Algorithm, RegisteredKey[]>();

  constructor(keys: Iterable<RegisteredKey>) {
    for (const key of keys) {
      this.#byId.set(key.kid, key);
      const same = this.#byAlgorithm.get(key.algorithm);
      if (same) same.push(key);
      else this.#byAlgorithm.set(key.algorithm, [key]);
    }
  }

  /** Returns all keys, in the order in which they were registered. */
  keys(): IterableIterator<RegisteredKey> {
    return this.#byId.values();
  }

  /** Returns a new ring with the keys of this ring and `key`. */
  with(key: RegisteredKey): KeyRing {
    return new KeyRing([...this.keys(), key]);
  }

  /** Returns a new ring with the keys of this ring, except the key with the id `kid`. */
  without(kid: string): KeyRing {
    return new KeyRing([...this.keys()].filter((key) => key.kid !== kid));
  }

  /** Returns the key with the id `kid`; undefined if absent. */
  find(kid: string): RegisteredKey | undefined {
    return this.#byId.get(kid);
  }

  /** Returns the keys that can verify signatures of `algorithm`, in the order in which they were registered. */
  candidates(algorithm: Algorithm): readonly RegisteredKey[] {
    return this.#byAlgorithm.get(algorithm) ?? [];
  }
}
