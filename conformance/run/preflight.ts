import { request } from 'undici';
import { createSigner } from '../auth/tokens.js';
import { callAdmin } from '../http/admin.js';
import { isRecord } from '../http/exchange.js';
import { lossOf } from '../http/no-answer.js';
import type { Target } from '../target/target.js';

/**
 * The run cannot start, and no rule is checked: exit code 3.
 *
 * ```js
 * await assert.rejects(run({ ...target, baseUrl: 'http://127.0.0.1:1' }), Unready);
 * ```
 */
export class Unready extends Error {
  override readonly name = 'Unready';
}

/** Restricted tokens live for at most an hour; a clock that is off by more than this makes verdicts about time wrong. */
const MAX_SKEW_SECONDS = 120;

/**
 * Looks at three things only: something answers by HTTP, it accepts a token, and the clocks agree. A wrong answer is no
 * reason to stop: checking wrong answers is what the rules are for. Throws `Unready`.
 */
export async function checkReady(target: Target, timeout: number, now: () => number): Promise<void> {
  const token = createSigner(target, now).sign({ scopes: ['org:read'] });
  const looks = await Promise.allSettled(
    ['/api/repos', '/api/meta'].map((path) => get(target.baseUrl, path, timeout, token)),
  );
  const answers = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
  const [first] = answers;
  if (first === undefined) {
    const [why] = looks.flatMap((look) => (look.status === 'rejected' ? [look.reason] : []));
    throw new Unready(`${target.baseUrl} does not answer: ${lossOf(why)?.seen ?? String(why)}`);
  }
  if (answers.every(isRejection)) {
    const because = first.detail === undefined ? '' : `: ${first.detail}`;
    throw new Unready(`the target rejects the key given for ${target.org} (${first.status}${because})`);
  }
  const skews = answers.flatMap(({ date, at }) => (date === undefined ? [] : [Math.abs(Date.parse(date) - at) / 1000]));
  const skew = Math.min(...skews); // not a number where no date is one
  if (skews.length > 0 && skew > MAX_SKEW_SECONDS) {
    throw new Unready(`the target's clock is ${Math.round(skew)} s away from this one`);
  }

  async function get(baseUrl: string, path: string, timeout: number, token: string): Promise<ProbeAnswer> {
    const { statusCode, headers, body } = await request(baseUrl + path, {
      headers: { authorization: `Bearer ${token}` },
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    const at = now();
    // What came of the body is enough: that it was cut off is for the rules to check.
    const text = await body.text().catch(() => '');
    const { date } = headers;
    return { status: statusCode, at, ...readProblem(text), ...(typeof date === 'string' ? { date } : {}) };
  }
}

interface ProbeAnswer {
  readonly status: number;
  /** When it came. */
  readonly at: number;
  readonly code?: string;
  readonly detail?: string;
  readonly date?: string;
}

/** Whether the target rejects the token. One that merely lacks a scope was accepted. */
function isRejection({ status, code }: ProbeAnswer): boolean {
  return status === 401 || (status === 403 && code !== 'insufficient_scope' && code !== undefined);
}

function readProblem(text: string): { code?: string; detail?: string } {
  try {
    const { code, detail, error } = JSON.parse(text) as Record<string, unknown>;
    const words = detail ?? error;
    return {
      ...(typeof code === 'string' ? { code } : {}),
      ...(typeof words === 'string' ? { detail: words } : {}),
    };
  } catch {
    return {};
  }
}

/** Requests a second that a target is asked unless it is said. */
export function usualRate({ adminUrl }: Target): number {
  return adminUrl === undefined ? 5 : Number.POSITIVE_INFINITY;
}

/** Where an emulator is controlled, unless it says otherwise. */
export function adminUrlOf(baseUrl: string): string {
  return `${baseUrl}/_emulator`;
}

/**
 * Whether a URL is an emulator's control address.
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

/** The target with the admin address that it has where it says that it is an emulator. Throws `Unready`. */
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
