import { createSigner } from '../auth/tokens.js';
import { callAdmin } from '../http/admin.js';
import { isRecord } from '../http/exchange.js';
import type { Target } from '../target/target.js';
import { type Look, look } from './look.js';

/**
 * The run cannot start, and no rule is checked. The exit code is 3.
 *
 * ```js
 * await assert.rejects(run({ ...target, baseUrl: 'http://127.0.0.1:1' }), Unready);
 * ```
 */
export class Unready extends Error {
  override readonly name = 'Unready';
}

/**
 * Maximum clock difference in seconds. Restricted tokens are valid for at most one hour, so a larger difference makes
 * verdicts about time wrong.
 */
const MAX_SKEW_SECONDS = 120;

/**
 * Checks only that the target responds over HTTP, accepts a token, and has a correct clock. Other wrong responses do
 * not stop the run, because the rules check them. Throws `Unready`.
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
  const skew = Math.min(...skews); // infinite if no response has a Date
  if (skews.length > 0 && skew > MAX_SKEW_SECONDS) {
    throw new Unready(`the target's clock differs from the local clock by ${skew} s (maximum: ${MAX_SKEW_SECONDS} s)`);
  }
}

/** Returns true if the target rejects the token. A token that only lacks a scope was accepted. */
function isRejection({ status, code }: Look): boolean {
  return status === 401 || (status === 403 && code !== 'insufficient_scope' && code !== undefined);
}

/** Default request rate per second. */
export function usualRate({ adminUrl }: Target): number {
  return adminUrl === undefined ? 5 : Number.POSITIVE_INFINITY;
}

/** Default address of the admin API. */
export function adminUrlOf(baseUrl: string): string {
  return `${baseUrl}/_emulator`;
}

/**
 * Returns true if the URL is the admin API of an emulator.
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

/** Adds the admin address to a target that identifies itself as an emulator. Throws `Unready`. */
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
