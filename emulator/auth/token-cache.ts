import type { Claims } from './claims.js';
import type { Scheme } from './credentials.js';
import type { KeyRing, RegisteredKey } from './keys.js';
import type { TokenType } from './token.js';

/** That a token's signature was good, and nothing else: whether it may be used is checked at every use. */
export interface ProvenToken {
  readonly scheme: Scheme;
  readonly claims: Claims;
  readonly key: RegisteredKey;
  /** Of the token's header. */
  readonly kid: string | undefined;
  readonly type: TokenType;
  /** Every claim, also those that the service does not know. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The ring it was proven with. Under another ring another key could decide, so it has to be proven again. */
  readonly ring: KeyRing;
}

/**
 * Proven tokens by the whole `Authorization` value they came in, at most `capacity` of them.
 *
 * Least recently used by two generations: the young one takes what is new or was asked for again;
 * when it is half of the capacity it becomes the old one, and what was old is dropped. A hit in the
 * young one, which is nearly every hit, is a single look-up.
 */
export class TokenCache {
  #young = new Map<string, ProvenToken>();
  #old = new Map<string, ProvenToken>();

  constructor(private readonly capacity = 2048) {}

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(authorization: string): ProvenToken | undefined {
    const found = this.#young.get(authorization);
    if (found) return found;
    const aged = this.#old.get(authorization);
    if (aged) {
      this.#old.delete(authorization);
      this.set(authorization, aged);
    }
    return aged;
  }

  set(authorization: string, token: ProvenToken): void {
    if (this.#young.size >= this.capacity / 2 && !this.#young.has(authorization)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#old.delete(authorization);
    this.#young.set(authorization, token);
  }
}
