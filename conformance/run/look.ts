import { request } from 'undici';
import { isRecord } from '../http/exchange.js';
import { lossOf } from '../http/no-response.js';
import { defined, parseJson } from '../target/json.js';

/** Result of a single GET request to a target, sent before the rules run or by `probe`. */
export interface Look {
  /** Status of the response; undefined if no response arrived. */
  readonly status?: number;
  readonly type?: string;
  /** Member `code` of a JSON response body; undefined if absent. */
  readonly code?: string;
  /** Description of the failure if no response arrived; undefined otherwise. */
  readonly lost?: string;
  /**
   * Seconds by which the target's clock (`Date` header) is ahead of the local clock; negative if it is behind.
   * Undefined if the response has no valid `Date`.
   */
  readonly ahead?: number;
  readonly json?: unknown;
}

const MAX_BYTES = 1024 * 1024;

/**
 * Sends a GET request that belongs to no rule, so that it affects no verdict. Never throws, because a failure is
 * returned as `lost`. `timeout`: milliseconds for one response.
 */
export async function look(url: string, timeout: number, headers: Record<string, string>): Promise<Look> {
  try {
    const {
      statusCode,
      headers: fields,
      body,
    } = await request(url, {
      headers,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      signal: AbortSignal.timeout(timeout * 2),
    });
    const at = Date.now();
    const json = parseJson(await textOf(body));
    const { date, 'content-type': type } = fields;
    const ahead = typeof date === 'string' ? Math.round((Date.parse(date) - at) / 1000) : Number.NaN;
    return {
      status: statusCode,
      ...defined({
        type: typeof type === 'string' ? type : undefined,
        code: isRecord(json) && typeof json.code === 'string' ? json.code : undefined,
        ahead: Number.isNaN(ahead) ? undefined : ahead,
        json,
      }),
    };
  } catch (error) {
    return { lost: lossOf(error)?.seen ?? (error instanceof Error ? error.message : String(error)) };
  }
}

/** Reads a response body as text. Stops after `MAX_BYTES`, because the target may send a body of any size. */
async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size > MAX_BYTES) break;
    }
  } catch {
    // Ignore the error, because the part of a truncated body that arrived is sufficient.
  }
  return Buffer.concat(parts).toString('utf8');
}
