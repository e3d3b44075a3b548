import type { KeyObject } from 'node:crypto';
import type { Scope } from './scope.js';

/** Specification, Token header: the four algorithms a token may be signed with. */
export type Algorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** OpenSSL's name of each curve, and the one algorithm that signs on it (RFC 7518, 3.4). */
const CURVES: ReadonlyMap<string | undefined, Algorithm> = new Map([
  ['prime256v1', 'ES256'],
  ['secp384r1', 'ES384'],
  ['secp521r1', 'ES512'],
]);

const ALGORITHMS: ReadonlySet<unknown> = new Set<Algorithm>(['ES256', 'ES384', 'ES512', 'RS256']);

export function isAlgorithm(value: unknown): value is Algorithm {
  return ALGORITHMS.has(value);
}

/** RSA below 2048 bits is refused by RFC 7518, 3.3; above 8192 one check takes milliseconds. */
const RSA_BITS = { least: 2048, most: 8192 };

/** The algorithm a key signs with: its type and its curve leave exactly one. Undefined: none of the four. */
export function algorithmOf(key: KeyObject): Algorithm | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ec') return CURVES.get(details?.namedCurve);
  if (key.asymmetricKeyType !== 'rsa') return undefined;
  const bits = details?.modulusLength ?? 0;
  return bits >= RSA_BITS.least && bits <= RSA_BITS.most ? 'RS256' : undefined;
}

/** `['*']`: an unrestricted key. Anything else: the only scopes its tokens may name. */
export type AllowedScopes = readonly ['*'] | readonly Scope[];

/** Tokens of a restricted key live at most this long, in seconds. */
export const RESTRICTED_LIFETIME = 3600;

/** A public key an organization has registered. Immutable, apart from reading its key when first used. */
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

/** The keys of one organization, as a value: what was verified with one ring says nothing about another. */
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

  /** Every key, oldest first. */
  keys(): IterableIterator<RegisteredKey> {
    return this.#byId.values();
  }

  /** A ring with one key more. */
  with(key: RegisteredKey): KeyRing {
    return new KeyRing([...this.keys(), key]);
  }

  /** A ring without the key that `kid` names. */
  without(kid: string): KeyRing {
    return new KeyRing([...this.keys()].filter((key) => key.kid !== kid));
  }

  /** The key `kid` names. */
  find(kid: string): RegisteredKey | undefined {
    return this.#byId.get(kid);
  }

  /** The keys a signature made with `algorithm` can come from, oldest first. */
  candidates(algorithm: Algorithm): readonly RegisteredKey[] {
    return this.#byAlgorithm.get(algorithm) ?? [];
  }
}
