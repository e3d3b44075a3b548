import type { Claims } from './claims.js';
import type { Scheme } from './credentials.js';
import type { KeyRing, RegisteredKey } from './keys.js';
import type { TokenType } from './token.js';

/** Result of a successful signature check. Claims such as times and scopes are checked separately for each request. */
export interface SignedToken {
  readonly key: RegisteredKey;
  /** Key id in the token's header `kid`; undefined if absent. */
  readonly kid: string | undefined;
  readonly type: TokenType;
  /** All claims of the token, including those that the service does not use. */
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * Registered keys of the organization (key ring) when the token was verified. If the organization has another ring
   * now, the token must be verified again, because its key may have been deleted.
   */
  readonly ring: KeyRing;
}

/** Verified token, with the authentication scheme (Bearer or Basic) in which it was sent. */
export interface ProvenToken extends SignedToken {
  readonly scheme: Scheme;
  readonly claims: Claims;
}

/**
 * Cache of at most `capacity` verified tokens.
 *
 * It approximates LRU with two generations (maps). New and reused entries go to the young generation. When the young
 * generation reaches half of the capacity, it becomes the old generation, and the previous old generation is dropped. A
 * hit in the young generation, the usual case, needs only one lookup.
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
