import type { Claims } from './claims.js';
import type { Scheme } from './credentials.js';
import type { KeyRing, RegisteredKey } from './keys.js';
import type { TokenType } from './token.js';

/** That a token's signature was good, and nothing else: whether it may be used is checked at every use. */
export interface SignedToken {
  readonly key: RegisteredKey;
  /** Of the token's header. */
  readonly kid: string | undefined;
  readonly type: TokenType;
  /** Every claim, also those that the service does not know. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** The ring it was proven with. Under another ring another key could decide, so it has to be proven again. */
  readonly ring: KeyRing;
}

/** A signed token as it came. */
export interface ProvenToken extends SignedToken {
  readonly scheme: Scheme;
  readonly claims: Claims;
}

/**
 * Tokens whose signature was good, by what they came in, at most `capacity` of them.
 *
 * Least recently used by two generations: the young one takes what is new or was asked for again;
 * when it is half of the capacity it becomes the old one, and what was old is dropped. A hit in the
 * young one, which is nearly every hit, is a single look-up.
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
