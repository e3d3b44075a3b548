import type { KeyObject } from 'node:crypto';
import type { Scope } from './scope.js';

/** Algorithms that tokens may be signed with (specification, Token header). */
export type Algorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** OpenSSL name of each curve, and the algorithm that uses it (RFC 7518, 3.4). */
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
 * Permitted sizes of RSA keys. RFC 7518, 3.3 forbids less than 2048 bits, and verification with more than 8192 takes
 * milliseconds.
 */
const RSA_BITS = { least: 2048, most: 8192 };

/** Returns the algorithm of a key, which its type and curve determine; undefined if it is not one of the four. */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ec') return CURVES.get(details?.namedCurve);
  if (key.asymmetricKeyType !== 'rsa') return undefined;
  const bits = details?.modulusLength ?? 0;
  return bits >= RSA_BITS.least && bits <= RSA_BITS.most ? 'RS256' : undefined;
}

/** `['*']` for an unrestricted key, otherwise the only scopes that its tokens may have. */
export type AllowedScopes = readonly ['*'] | readonly Scope[];

/** Maximum lifetime of tokens of a restricted key, in seconds. */
export const RESTRICTED_LIFETIME = 3600;

/** Public key registered by an organization. Immutable, apart from reading the key on first use. */
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
 * Immutable set of the keys of one organization. Verified tokens are cached per ring, because with other keys the
 * result may differ.
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

  /** Returns all keys, oldest first. */
  keys(): IterableIterator<RegisteredKey> {
    return this.#byId.values();
  }

  /** Returns a ring with one more key. */
  with(key: RegisteredKey): KeyRing {
    return new KeyRing([...this.keys(), key]);
  }

  /** Returns a ring without the key of this `kid`. */
  without(kid: string): KeyRing {
    return new KeyRing([...this.keys()].filter((key) => key.kid !== kid));
  }

  /** Returns the key of this `kid`; undefined if there is none. */
  find(kid: string): RegisteredKey | undefined {
    return this.#byId.get(kid);
  }

  /** Returns the keys that can verify signatures of `algorithm`, oldest first. */
  candidates(algorithm: Algorithm): readonly RegisteredKey[] {
    return this.#byAlgorithm.get(algorithm) ?? [];
  }
}
