import type { Claims } from './claims.js';
import type { Scheme } from './credentials.js';
import type { KeyRing, RegisteredKey } from './keys.js';
import type { TokenType } from './token.js';

/** Result of a successful signature check. Whether the token may be used is checked on each use. */
export interface SignedToken {
  readonly key: RegisteredKey;
  /** Header `kid` of the token. */
  readonly kid: string | undefined;
  readonly type: TokenType;
  /** All claims, including those that the service does not know. */
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * Ring that verified the token. With another ring the token must be verified again, because another key may apply.
   */
  readonly ring: KeyRing;
}

/** Verified token with the scheme of its credential. */
export interface ProvenToken extends SignedToken {
  readonly scheme: Scheme;
  readonly claims: Claims;
}

/**
 * Cache of at most `capacity` verified tokens.
 *
 * Approximates LRU with two generations. New and reused entries go to the young generation. When it reaches half of the
 * capacity, it becomes the old generation, and the previous old one is dropped. A hit in the young generation, which is
 * the usual case, is a single lookup.
 */
export class TokenCache<Token> {
  #young = new Map<string, Token>();
  #old = new Map<string, Token>();

  constructor(private readonly capacity = 2048) {}

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(text: string): Token | undefined {
    const found = this.#young.get(text);
    if (found) return found;
    const aged = this.#old.get(text);
    if (aged) {
      this.#old.delete(text);
      this.set(text, aged);
    }
    return aged;
  }

  set(text: string, token: Token): void {
    if (this.#young.size >= this.capacity / 2 && !this.#young.has(text)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#old.delete(text);
    this.#young.set(text, token);
  }
}
