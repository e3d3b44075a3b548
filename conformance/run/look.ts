import { request } from 'undici';
import { headerOf, isRecord } from '../http/exchange.js';
import { lossOf } from '../http/no-response.js';
import { proxied, proxyOf } from '../http/proxy.js';
import { defined, parseJson } from '../target/json.js';

/** Result of one GET request that belongs to no rule. Such requests are sent before the rules run, or by `probe`. */
export interface Look {
  /** Status of the response. Undefined if no response arrived. */
  readonly status?: number;
  readonly type?: string;
  /** Redirect address from the response, without its query. Undefined if absent. */
  readonly location?: string;
  /** Member `code` of a JSON response body. Undefined if absent. */
  readonly code?: string;
  /** Description of the failure if the response did not arrive completely. Undefined otherwise. */
  readonly lost?: string;
  /**
   * Seconds by which the target's clock (`Date` header) is ahead of the local clock; negative if behind. Undefined if
   * the response has no valid `Date`.
   */
  readonly ahead?: number;
  /** Milliseconds until the response was complete or the request failed. */
  readonly milliseconds: number;
  /** First 1,048,576 bytes of the response body, as text. */
  readonly text?: string;
  readonly json?: unknown;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Sends a GET request that belongs to no rule and affects no verdict. Never throws; a failure is returned as `lost`.
 *
 * - `timeout`: maximum milliseconds until the response header arrives. The complete response may take twice as long.
 * - `signal`: ends the request if aborted.
 */
export async function look(
  url: string,
  timeout: number,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Look> {
  const started = performance.now();
  const time = () => ({ milliseconds: performance.now() - started });
  const limit = AbortSignal.timeout(Math.min(timeout * 2, LONGEST));
  const proxy = proxyOf(url);
  const dispatcher = proxy === undefined ? undefined : proxied(proxy, {});
  try {
    const response = await request(url, {
      ...(dispatcher && { dispatcher }),
      headers,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    const fields = { headers: response.headers };
    const at = Date.now();
    const { text, lost } = await readBody(response.body);
    const json = parseJson(text);
    return {
      status: response.statusCode,
      ...time(),
      ...defined({
        type: headerOf(fields, 'content-type'),
        location: headerOf(fields, 'location')?.replace(/[?#].*/s, ''),
        code: isRecord(json) && typeof json.code === 'string' ? json.code : undefined,
        ahead: secondsAhead(headerOf(fields, 'date'), headerOf(fields, 'age'), at),
        text,
        json,
        lost,
      }),
    };
  } catch (error) {
    return { ...time(), lost: describeLoss(error) };
  } finally {
    await dispatcher?.destroy();
  }
}

/** Maximum delay of a JavaScript timer in milliseconds, about 24 days. */
const LONGEST = 2 ** 31 - 1;

function describeLoss(error: unknown, begun = false): string {
  return lossOf(error, begun)?.seen ?? (error instanceof Error ? error.message : String(error));
}

/**
 * The only form of `Date` that servers may send (RFC 9110, section 5.6.7). Other forms may be in any time zone, so they
 * are ignored.
 */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the seconds by which a `Date` header is ahead of the local clock. Returns undefined if the header is absent
 * or invalid.
 *
 * - `age`: `Age` header of a response from a cache. The `Date` is that many seconds old.
 * - `now`: local time in milliseconds since the epoch.
 */
function secondsAhead(date: string | undefined, age: string | undefined, now: number): number | undefined {
  const time = date !== undefined && HTTP_DATE.test(date) ? Date.parse(date) : Number.NaN;
  const old = age !== undefined && /^\d{1,10}$/.test(age) ? Number(age) : 0;
  return Number.isNaN(time) ? undefined : Math.round((time - now) / 1000) + old;
}

/**
 * Reads a response body as text. Stops after `MAX_BYTES`, because the target may send a body of any size. `lost`
 * describes the failure if the body is incomplete; undefined otherwise.
 */
async function readBody(body: AsyncIterable<Buffer>): Promise<{ text: string; lost: string | undefined }> {
  const parts: Buffer[] = [];
  let size = 0;
  let lost: string | undefined;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size > MAX_BYTES) break;
    }
  } catch (error) {
    lost = describeLoss(error, true);
  }
  return { text: Buffer.concat(parts).toString('utf8'), lost };
}
