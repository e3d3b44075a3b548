import { request } from 'undici';
import { isRecord } from '../http/exchange.js';
import { lossOf } from '../http/no-answer.js';
import { defined, parseJson } from '../target/json.js';

/** What a look at a target found. */
export interface Look {
  /** The status; undefined where nothing answered. */
  readonly status?: number;
  readonly type?: string;
  /** The code of an error. */
  readonly code?: string;
  /** What was seen instead of an answer. */
  readonly lost?: string;
  /** Seconds that the clock of the target is ahead. */
  readonly ahead?: number;
  readonly json?: unknown;
}

const MOST_BYTES = 1024 * 1024;

/** Asks for a URL, outside of what is checked. `timeout`: milliseconds for one answer. */
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

/** What came of the body, as far as it is looked at. */
async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      parts.push(part);
      size += part.length;
      if (size > MOST_BYTES) break;
    }
  } catch {
    // What is cut off says as much as it says.
  }
  return Buffer.concat(parts).toString('utf8');
}
