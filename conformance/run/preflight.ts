import { createSigner, type TokenRecipe } from '../auth/tokens.js';
import { callAdmin } from '../http/admin.js';
import { isRecord } from '../http/exchange.js';
import { TIMED_OUT } from '../http/no-response.js';
import { redactValue } from '../report/redact.js';
import { visible } from '../report/reporter.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import { type Look, look } from './look.js';

/**
 * Thrown if a run cannot start, for example because the target does not respond or rejects the key. No rule is then
 * checked, and the command exits with code 3.
 *
 * ```js
 * await assert.rejects(run({ ...target, baseUrl: 'http://127.0.0.1:1' }), Unready);
 * ```
 */
export class Unready extends Error {
  override readonly name = 'Unready';
}

/**
 * Maximum difference in seconds between the target's clock and the local clock. A larger difference would make verdicts
 * about times wrong, because restricted tokens are valid for at most one hour.
 */
const MAX_SKEW_SECONDS = 120;

/** Settings of the requests that check a target before a run. */
export interface Patience {
  /** Maximum time to wait for one response, in milliseconds. */
  readonly timeout: number;
  /** Ends the checks at once when aborted. They then do not throw. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Checks before a run that the target is the service, has a correct clock, and accepts a token signed with the given
 * key. Returns the target's latency in milliseconds. Throws `Unready` if a check fails. Other wrong responses do not
 * stop the run, because rules check them.
 */
export async function checkReady(target: Target, patience: Patience): Promise<number> {
  const responses = await checkService(target, patience);
  if (patience.signal?.aborted) return 0;
  // Compare the clocks first, because a wrong clock can be the reason why the target rejects the token.
  checkClock(responses);
  const [first] = responses;
  if (first !== undefined && responses.every(isRejection)) {
    const { detail, error } = isRecord(first.json) ? first.json : {};
    const words = detail ?? error;
    const because = typeof words === 'string' ? `: ${words}` : '';
    throw new Unready(`the target rejects the key given for ${target.org} (${first.status}${because})`);
  }
  return Math.min(...responses.map(({ milliseconds }) => milliseconds));
}

/** Name of a repository and a route that no service has. Requests with it must be refused. */
const ABSENT = 'conformance-preflight';

/**
 * Checks that the target responds and is the service, not for example a web server or a proxy. Returns the responses to
 * its first two requests. Throws `Unready` if no complete response arrives, or if all responses are alike.
 *
 * If the first two responses are not typical of the service, three more requests are sent: without a token, for an
 * absent repository, and for an absent route. The service responds differently to each.
 */
export async function checkService(target: Target, { timeout, signal }: Patience): Promise<readonly Look[]> {
  const { baseUrl } = target;
  const signer = createSigner(target, Date.now);
  const ask = (path: string, recipe?: TokenRecipe) => {
    const authorization = recipe && `Bearer ${signer.sign(recipe)}`;
    return look(baseUrl + path, timeout, defined({ authorization }), signal);
  };
  const reading: TokenRecipe = { scopes: ['org:read'] };
  const looks = await Promise.all([ask('/api/repos', reading), ask('/api/meta', reading)]);
  const responses = looks.filter(isComplete);
  if (signal?.aborted) return responses;
  if (responses.length === 0) throw new Unready(describeSilence(baseUrl, looks[0].lost ?? ''));
  if (isTypical(responses)) return responses;
  const others = await Promise.all([
    ask('/api/repos'),
    ask('/api/v1/repo', { repo: ABSENT, scopes: ['git:read'] }),
    ask(`/api/${ABSENT}`, reading),
  ]);
  if (signal?.aborted) return responses;
  const all = [...responses, ...others.filter(isComplete)];
  const complaint = describeAlike(baseUrl, all, all.length === looks.length + others.length);
  if (complaint === undefined) return responses;
  if (all.every(({ status }) => status === 401 || status === 403)) checkClock(all);
  throw new Unready(redactValue(visible(complaint)));
}

function isComplete({ status, lost }: Look): boolean {
  return status !== undefined && lost === undefined;
}

/** Throws `Unready` if the `Date` headers of all responses differ too much from the local clock. */
function checkClock(responses: readonly Look[]): void {
  const skews = responses.flatMap(({ ahead }) => (ahead === undefined ? [] : [Math.abs(ahead)]));
  const skew = Math.min(...skews); // Infinity if no response has a `Date` header
  if (skews.length > 0 && skew > MAX_SKEW_SECONDS) {
    throw new Unready(`the target's clock differs from the local clock by ${skew} s (maximum: ${MAX_SKEW_SECONDS} s)`);
  }
}

/**
 * Returns true if the target rejected the token. Returns false for `insufficient_scope`, because the target then
 * accepted the token and only missed a scope.
 */
function isRejection({ status, code }: Look): boolean {
  return status === 401 || (status === 403 && code !== 'insufficient_scope' && code !== undefined);
}

/**
 * Returns true if the two responses can only come from the service. The first is the list of repositories, the second
 * the metadata of the organization. They are a list and something else, or JSON rejections of the token, or one of them
 * is throttling. False proves nothing, because the specification does not show the form of these responses.
 */
function isTypical(responses: readonly Look[]): boolean {
  if (responses.some(({ status }) => status === 429)) return true;
  if (responses.every((response) => isRejection(response) && isRecord(response.json))) return true;
  const [list, meta] = responses;
  if (list?.status !== 200 || meta === undefined) return false;
  const values = isRecord(list.json) ? Object.values(list.json) : [list.json];
  return values.some(Array.isArray) && JSON.stringify(list.json) !== JSON.stringify(meta.json);
}

const IS_ADDRESS = 'is this the address of the API?';

/**
 * Describes what all responses have in common, if the target is not the service. Returns undefined if they differ as
 * the service's responses do: at least one is JSON, and not all statuses are equal. `isWhole`: false if some responses
 * are missing, so equal statuses prove nothing.
 */
function describeAlike(baseUrl: string, responses: readonly Look[], isWhole: boolean): string | undefined {
  const [first] = responses;
  if (first === undefined || responses.some(({ status }) => status === 429)) return undefined;
  const { type, text = '', location } = first;
  const statuses = [...new Set(responses.map(({ status }) => status))];
  const numbers = statuses.join(', ');
  const every = `every response of ${baseUrl} is`;
  const excerpt = text.trim() === '' ? '' : `: ${text.trim().slice(0, 80)}`;
  const words = `${numbers}${type === undefined ? '' : ` ${type}`}${excerpt}`;
  if (responses.every(({ status = 0 }) => status >= 300 && status < 400)) {
    return `${every} a redirect${location === undefined ? '' : ` to ${location}`} (${numbers}); ${IS_ADDRESS}`;
  }
  if (responses.every(({ status = 0 }) => status >= 500)) return `${every} an error (${words}); is the service up?`;
  if (responses.every(({ json }) => typeof json !== 'object' || json === null)) {
    const isRefusal = statuses.every((status) => status === 401 || status === 403);
    const question = isRefusal ? 'is a proxy or a login page in front of the API?' : IS_ADDRESS;
    if (responses.some((response) => isPage(response))) return `${every} a web page (${numbers} ${type}); ${question}`;
    return `${every} something other than JSON (${words}); ${question}`;
  }
  if (!isWhole || statuses.length > 1) return undefined;
  return `${every} alike, even without a token and for an absent route (${words}); ${IS_ADDRESS}`;
}

function isPage({ type = '', text = '' }: Look): boolean {
  return type.startsWith('text/html') || /^\s*<(!doctype )?html/i.test(text);
}

const CERTIFICATE = /CERT|UNABLE_TO_|SELF_SIGNED/;
const NOT_TLS = /EPROTO|ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)/;
const PRIVATE_AUTHORITY = /SELF_SIGNED|UNABLE_TO_/;

function describeSilence(baseUrl: string, lost: string): string {
  if (NOT_TLS.test(lost)) return `${baseUrl} does not answer over TLS: ${lost}; is it an http address?`;
  if (lost === TIMED_OUT) return `${baseUrl} does not answer: ${lost}; --timeout raises the limit`;
  if (!CERTIFICATE.test(lost)) return `${baseUrl} does not answer: ${lost}`;
  const advice = PRIVATE_AUTHORITY.test(lost) ? '; NODE_EXTRA_CA_CERTS names a file of further authorities' : '';
  return `${baseUrl} has no trusted TLS certificate: ${lost}${advice}`;
}

/** Returns the default number of requests per second: 5 to protect a shared service, or `Infinity` on an emulator. */
export function usualRate({ adminUrl }: Target): number {
  return adminUrl === undefined ? 5 : Number.POSITIVE_INFINITY;
}

/** Returns the default URL of an emulator's admin API. `baseUrl`: origin of the emulator's repository API. */
export function adminUrlOf(baseUrl: string): string {
  return `${baseUrl}/_emulator`;
}

/**
 * Returns true if the URL is an emulator's admin API. Returns false if no response arrives within `timeout`
 * milliseconds, or if `signal` is aborted.
 *
 * ```js
 * assert.equal(await isEmulator(`${target.baseUrl}/_emulator`, 1_000), true);
 * ```
 */
export async function isEmulator(adminUrl: string, timeout: number, signal?: AbortSignal): Promise<boolean> {
  const { status, json } = await look(`${adminUrl}/health`, timeout, {}, signal);
  return status === 200 && isRecord(json) && json.emulator === true;
}

/**
 * Adds the admin API's URL to a target that is an emulator. The suite recognizes an emulator by this URL. Other targets
 * are returned unchanged. Throws `Unready` if the emulator rejects the given admin token.
 */
export async function withAdmin(target: Target, { timeout, signal }: Patience): Promise<Target> {
  const adminUrl = target.adminUrl ?? adminUrlOf(target.baseUrl);
  if (target.adminUrl === undefined && !(await isEmulator(adminUrl, Math.min(timeout, 5000), signal))) return target;
  const { adminToken: token } = target;
  if (token !== undefined && !signal?.aborted) {
    const { status } = await callAdmin({ url: `${adminUrl}/clock`, token, timeout });
    if (status === 401) throw new Unready('the emulator rejects the admin token');
  }
  return { ...target, adminUrl };
}
