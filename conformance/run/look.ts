import { request } from 'undici';
import { isRecord } from '../http/exchange.js';
import { lossOf } from '../http/no-response.js';
import { defined, parseJson } from '../target/json.js';

/** Result of a single request to a target. */
export interface Look {
  /** Status; undefined if there was no response. */
  readonly status?: number;
  readonly type?: string;
  /** Error code of the response. */
  readonly code?: string;
  /** Description of the failure if no response arrived. */
  readonly lost?: string;
  /** Seconds that the clock of the target is ahead. */
  readonly ahead?: number;
  readonly json?: unknown;
}

const MAX_BYTES = 1024 * 1024;

/** Sends a GET request that is not part of any rule. `timeout`: milliseconds for one response. */
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

/** Reads the body up to a limit. */
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
    // A truncated body is used as far as it arrived.
  }
  return Buffer.concat(parts).toString('utf8');
}
