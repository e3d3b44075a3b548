import type { SigningKey } from './keys.js';

/** Second organization on the service under test, for rules about access to other organizations. */
export interface SecondOrganization {
  readonly org: string;
  readonly key: SigningKey;
  /** Origin of the API for the second organization. Undefined if both organizations have the same origin. */
  readonly baseUrl?: string;
}

/** Description of the service under test, with everything that the suite may use to test it. */
export interface Target {
  /** Origin of the API, without a trailing slash. */
  readonly baseUrl: string;
  /** Origin of the Git host. Repositories are cloned from there. */
  readonly gitUrl: string;
  readonly org: string;
  /** Unrestricted private key that signs the tokens of the suite. */
  readonly key: SigningKey;
  /** Additional unrestricted private keys that are registered for the organization. */
  readonly otherKeys: readonly SigningKey[];
  readonly restrictedKey?: SigningKey;
  readonly deletedKey?: SigningKey;
  readonly second?: SecondOrganization;
  /** Name of an existing repository with at least one commit. Runs that must not write read it. */
  readonly repo?: string;
  /** True if the suite may create repositories and write to them. */
  readonly write: boolean;
  /** True if the suite may use undocumented routes, which are known only from published clients. */
  readonly companion: boolean;
  /** URL of the emulator's admin API. Undefined if the target is not an emulator. */
  readonly adminUrl?: string;
  /** Token for the emulator's admin API. Undefined if not given. */
  readonly adminToken?: string;
}

/**
 * Returns true if the host of a URL is this machine. This does not mean that writing is permitted: a tunnel to a
 * production service also ends on this machine.
 */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127\./.test(hostname);
}

/**
 * Returns the origin of a URL: scheme, host and port. Throws if the scheme is neither http nor https.
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
