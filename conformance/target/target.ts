import type { SigningKey } from './keys.js';

/** Second organization on the same service. */
export interface SecondOrganization {
  readonly org: string;
  readonly key: SigningKey;
  /** Origin of its API; undefined if it shares the target's origin. */
  readonly baseUrl?: string;
}

/** The service under test, and everything that the suite may use to test it. */
export interface Target {
  /** Origin of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** Origin of the Git host. */
  readonly gitUrl: string;
  readonly org: string;
  /** Unrestricted key. */
  readonly key: SigningKey;
  /** Other unrestricted keys of the organization. */
  readonly otherKeys: readonly SigningKey[];
  readonly restrictedKey?: SigningKey;
  readonly deletedKey?: SigningKey;
  readonly second?: SecondOrganization;
  /** Existing repository with at least one commit, for runs that must not write. */
  readonly repo?: string;
  /** True if the suite may create repositories and write to them. */
  readonly write: boolean;
  /** True if the suite may use routes that are known only from published clients. */
  readonly companion: boolean;
  /** Address of the emulator's admin API; undefined if the target is not an emulator. */
  readonly adminUrl?: string;
  /** Admin token; undefined if not given. */
  readonly adminToken?: string;
}

/**
 * Returns true if an origin is this machine. This does not permit writing, because a tunnel to production is on this
 * machine too.
 */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}

/**
 * Returns the origin of a URL: scheme, host and port, without a path. Throws on a scheme other than http or https.
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
