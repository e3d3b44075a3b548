import { createPublicKey, type KeyObject } from 'node:crypto';
import { problem } from '../http/problem.js';
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

export interface RegisteredKeyFields {
  readonly kid: string;
  readonly organization: string;
  readonly algorithm: Algorithm;
  readonly allowedScopes: AllowedScopes;
  /** Milliseconds on the world's clock. A deleted key verifies nothing. */
  readonly deletedAt?: number;
}

/** A public key an organization has registered. Immutable, apart from reading its key when first used. */
export class RegisteredKey implements RegisteredKeyFields {
  readonly kid: string;
  readonly organization: string;
  readonly algorithm: Algorithm;
  readonly allowedScopes: AllowedScopes;
  readonly deletedAt?: number;
  #publicKey: KeyObject | undefined;

  constructor(
    fields: RegisteredKeyFields,
    private readonly load: () => KeyObject,
  ) {
    this.kid = fields.kid;
    this.organization = fields.organization;
    this.algorithm = fields.algorithm;
    this.allowedScopes = fields.allowedScopes;
    if (fields.deletedAt !== undefined) this.deletedAt = fields.deletedAt;
  }

  get publicKey(): KeyObject {
    this.#publicKey ??= this.load();
    return this.#publicKey;
  }

  get isRestricted(): boolean {
    return this.allowedScopes[0] !== '*';
  }

  get isDeleted(): boolean {
    return this.deletedAt !== undefined;
  }

  deleted(at: number): RegisteredKey {
    return new RegisteredKey({ ...this.fields, deletedAt: at }, this.load);
  }

  private get fields(): RegisteredKeyFields {
    const { kid, organization, algorithm, allowedScopes } = this;
    return { kid, organization, algorithm, allowedScopes };
  }
}

/**
 * A registered key from PEM (SPKI). Throws `unprocessable_entity` for text that is no public key of a
 * supported kind, and for private keys: the service stores public ones only.
 */
export function registerKey(fields: Omit<RegisteredKeyFields, 'algorithm'>, publicKeyPem: string): RegisteredKey {
  if (publicKeyPem.includes('PRIVATE KEY')) {
    throw problem('unprocessable_entity', 'Only the public key is registered; this is a private key.');
  }
  let key: KeyObject;
  try {
    key = createPublicKey(publicKeyPem);
  } catch {
    throw problem('unprocessable_entity', 'The text is no public key in PEM form.');
  }
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) {
    throw problem('unprocessable_entity', 'A key has to be EC P-256, P-384 or P-521, or RSA of 2048 to 8192 bits.');
  }
  return new RegisteredKey({ ...fields, algorithm }, () => key);
}

/**
 * The keys of one organization, as a value: registering or deleting makes another ring. What was
 * verified with one ring therefore stays true for it, and says nothing about the next.
 */
export class KeyRing {
  /** Keys an organization may have: a token that names none of them is tried against all. */
  static readonly CAPACITY = 100;
  static readonly EMPTY = new KeyRing(new Map());

  readonly #byAlgorithm = new Map<Algorithm, RegisteredKey[]>();
  readonly #live: number = 0;

  private constructor(private readonly keys: ReadonlyMap<string, RegisteredKey>) {
    for (const key of keys.values()) {
      if (key.isDeleted) continue;
      this.#live++;
      const same = this.#byAlgorithm.get(key.algorithm);
      if (same) same.push(key);
      else this.#byAlgorithm.set(key.algorithm, [key]);
    }
  }

  static of(keys: Iterable<RegisteredKey>): KeyRing {
    let ring = KeyRing.EMPTY;
    for (const key of keys) ring = ring.with(key);
    return ring;
  }

  /** Throws `conflict` when the key id is taken or the ring is full. */
  with(key: RegisteredKey): KeyRing {
    if (this.find(key.kid)) throw problem('conflict', 'A key with this id is already registered.');
    if (this.#live >= KeyRing.CAPACITY) {
      throw problem('conflict', `An organization has at most ${KeyRing.CAPACITY} keys.`);
    }
    return new KeyRing(new Map(this.keys).set(key.kid, key));
  }

  /** The ring with key `kid` deleted at `at` (milliseconds). Throws `not_found`. */
  without(kid: string, at: number): KeyRing {
    const key = this.find(kid);
    if (!key) throw problem('not_found', 'No key with this id is registered.');
    return new KeyRing(new Map(this.keys).set(kid, key.deleted(at)));
  }

  /** The key `kid` names, unless it was deleted. */
  find(kid: string): RegisteredKey | undefined {
    const key = this.keys.get(kid);
    return key?.isDeleted ? undefined : key;
  }

  /** The keys a signature made with `algorithm` can come from, oldest first. */
  candidates(algorithm: Algorithm): readonly RegisteredKey[] {
    return this.#byAlgorithm.get(algorithm) ?? [];
  }

  /** All keys in order of registration, deleted ones among them. */
  all(): IterableIterator<RegisteredKey> {
    return this.keys.values();
  }
}
