import { createSigner } from '../auth/tokens.js';
import { callAdmin } from '../http/admin.js';
import { isRecord } from '../http/exchange.js';
import type { Target } from '../target/target.js';
import { type Look, look } from './look.js';

/**
 * Thrown if a run cannot start, for example because the target does not respond or rejects the key. No rule is then
 * checked, and the exit code of the command is 3.
 *
 * ```js
 * await assert.rejects(run({ ...target, baseUrl: 'http://127.0.0.1:1' }), Unready);
 * ```
 */
export class Unready extends Error {
  override readonly name = 'Unready';
}

/**
 * Maximum difference between the clock of the target and the local clock, in seconds. A larger difference would make
 * verdicts about times wrong, because restricted tokens are valid for at most one hour.
 */
const MAX_SKEW_SECONDS = 120;

/**
 * Checks before a run that the target responds over HTTP, accepts a token signed with the given key, and has a correct
 * clock. Other wrong responses do not stop the run, because rules check them. `timeout`: milliseconds for one response.
 * Throws `Unready` if a check fails.
 */
export async function checkReady(target: Target, timeout: number): Promise<void> {
  const { baseUrl, org } = target;
  const token = createSigner(target, Date.now).sign({ scopes: ['org:read'] });
  const looks = await Promise.all(
    ['/api/repos', '/api/meta'].map((path) => look(baseUrl + path, timeout, { authorization: `Bearer ${token}` })),
  );
  const responses = looks.filter(({ status }) => status !== undefined);
  const [first] = responses;
  if (first === undefined) throw new Unready(`${baseUrl} does not answer: ${looks[0]?.lost}`);
  if (responses.every(isRejection)) {
    const { detail, error } = isRecord(first.json) ? first.json : {};
    const words = detail ?? error;
    const because = typeof words === 'string' ? `: ${words}` : '';
    throw new Unready(`the target rejects the key given for ${org} (${first.status}${because})`);
  }
  const skews = responses.flatMap(({ ahead }) => (ahead === undefined ? [] : [Math.abs(ahead)]));
  const skew = Math.min(...skews); // Infinity if no response has a `Date` header
  if (skews.length > 0 && skew > MAX_SKEW_SECONDS) {
    throw new Unready(`the target's clock differs from the local clock by ${skew} s (maximum: ${MAX_SKEW_SECONDS} s)`);
  }
}

/**
 * Returns true if the target rejected the token itself. Returns false for `insufficient_scope`, because the target
 * accepted a token that only lacks a scope.
 */
function isRejection({ status, code }: Look): boolean {
  return status === 401 || (status === 403 && code !== 'insufficient_scope' && code !== undefined);
}

/** Default number of requests per second: 5, to protect a shared service; unlimited on an emulator. */
export function usualRate({ adminUrl }: Target): number {
  return adminUrl === undefined ? 5 : Number.POSITIVE_INFINITY;
}

/** Returns the default URL of an emulator's admin API. `baseUrl`: origin of the emulator's repository API. */
export function adminUrlOf(baseUrl: string): string {
  return `${baseUrl}/_emulator`;
}

/**
 * Returns true if the URL is the admin API of an emulator. Returns false if no response arrives within `timeout`
 * milliseconds.
 *
 * ```js
 * assert.equal(await isEmulator(`${target.baseUrl}/_emulator`, 1_000), true);
 * ```
 */
export async function isEmulator(adminUrl: string, timeout: number): Promise<boolean> {
  try {
    const { status, json } = await callAdmin({ url: `${adminUrl}/health`, timeout });
    return status === 200 && isRecord(json) && json.emulator === true;
  } catch {
    return false;
  }
}

/**
 * Adds the URL of the admin API to a target that is an emulator. Returns other targets unchanged. The suite treats a
 * target as an emulator if this URL is present. Throws `Unready` if the emulator rejects the given admin token.
 */
export async function withAdmin(target: Target, timeout: number): Promise<Target> {
  const adminUrl = target.adminUrl ?? adminUrlOf(target.baseUrl);
  if (target.adminUrl === undefined && !(await isEmulator(adminUrl, Math.min(timeout, 5000)))) return target;
  const { adminToken: token } = target;
  if (token !== undefined) {
    const { status } = await callAdmin({ url: `${adminUrl}/clock`, token, timeout });
    if (status === 401) throw new Unready('the emulator rejects the admin token');
  }
  return { ...target, adminUrl };
}
