import { request } from 'undici';
import { createSigner } from '../auth/tokens.js';
import { callAdmin } from '../http/admin.js';
import { isRecord } from '../http/exchange.js';
import type { Target } from '../target/target.js';

/** The run cannot start, and no rule is judged: exit code 3. */
export class Unready extends Error {
  override readonly name = 'Unready';
}

/** Restricted tokens live for at most an hour; a clock that is off by more than this makes verdicts about time wrong. */
const MAX_SKEW_SECONDS = 120;

/**
 * Looks at three things only: something answers, it accepts a token, and the clocks agree. A wrong answer is no
 * reason to stop: judging wrong answers is what the rules are for.
 */
export async function checkReady(target: Target, timeout: number, now: () => number): Promise<void> {
  const token = createSigner(target, now).sign({ scopes: ['org:read'] });
  const repositories = await get(target.baseUrl, '/api/repos', timeout, token);
  const organization = await get(target.baseUrl, '/api/meta', timeout, token);
  const { status, detail, date } = repositories;
  if (isRejection(repositories) && isRejection(organization)) {
    const because = detail === undefined ? '' : `: ${detail}`;
    throw new Unready(`the target rejects the key given for ${target.org} (${status}${because})`);
  }
  const skew = date === undefined ? 0 : Math.abs(Date.parse(date) - now()) / 1000;
  if (skew > MAX_SKEW_SECONDS) throw new Unready(`the target's clock is ${Math.round(skew)} s away from this one`);
}

interface ProbeAnswer {
  readonly status: number;
  readonly code?: string;
  readonly detail?: string;
  readonly date?: string;
}

/** Whether the target rejects the token. One that merely lacks a scope was accepted. */
function isRejection({ status, code }: ProbeAnswer): boolean {
  return status === 401 || (status === 403 && code !== 'insufficient_scope' && code !== undefined);
}

async function get(baseUrl: string, path: string, timeout: number, token: string): Promise<ProbeAnswer> {
  try {
    const { statusCode, headers, body } = await request(baseUrl + path, {
      headers: { authorization: `Bearer ${token}` },
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    const text = await body.text();
    const date = headers.date;
    return { status: statusCode, ...readProblem(text), ...(typeof date === 'string' ? { date } : {}) };
  } catch (error) {
    throw new Unready(
      `${baseUrl} does not answer: ${error instanceof Error ? error.message || error.name : String(error)}`,
    );
  }
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

/** Where an emulator is controlled, unless it says otherwise. */
export function adminUrlOf(baseUrl: string): string {
  return `${baseUrl}/_emulator`;
}

/** Whether a URL is an emulator's control address. */
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
