import type { SigningKey } from './keys.js';

/** A second organization on the same service. */
export interface SecondOrganization {
  readonly org: string;
  readonly key: SigningKey;
  /** Its own API origin, where it has one. */
  readonly baseUrl?: string;
}

/** What is checked, and what the suite may use to do so. */
export interface Target {
  /** Origin of the API, without a slash at the end. */
  readonly baseUrl: string;
  /** Origin of the Git host. */
  readonly gitUrl: string;
  readonly org: string;
  /** An unrestricted key. */
  readonly key: SigningKey;
  /** Further unrestricted keys of the organization. */
  readonly otherKeys: readonly SigningKey[];
  readonly restrictedKey?: SigningKey;
  readonly deletedKey?: SigningKey;
  readonly second?: SecondOrganization;
  /** An existing repository with at least one commit, for runs that may not write. */
  readonly repo?: string;
  /** Whether repositories may be created and written. */
  readonly write: boolean;
  /** Whether routes that only published clients know may be tried. */
  readonly companion: boolean;
  /** Where the emulator is controlled, when the target is one. */
  readonly adminUrl?: string;
  /** What its admin routes ask for, where they ask for anything. */
  readonly adminToken?: string;
}

/** Whether an origin is this machine. That gives no leave to write: a tunnel to production is on it as well. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}

/**
 * An origin: scheme, host and port, and nothing behind them. Throws on anything that is not http or https.
 *
 * ```js
 * assert.equal(originOf('https://api.example.com/api/v1'), 'https://api.example.com');
 * ```
 */
export function originOf(text: string): string {
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`${text} is neither http nor https`);
  return url.origin;
}
