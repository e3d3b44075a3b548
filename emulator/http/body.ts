import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { type ProblemCode, problem } from './problem.js';

const MAX_DEPTH = 64;

export interface BodyOptions {
  readonly maxBytes: number;
  /** Longest pause in milliseconds (real time) before the body counts as abandoned. */
  readonly idleTimeout: number;
  /** Called before the first byte is waited for. */
  readonly askFor?: () => void;
}

/**
 * The body's chunks as they arrive. Throws `payload_too_large` past `maxBytes`, `request_timeout` after
 * a pause of `idleTimeout`, and `request_canceled` when the client goes away before the end.
 */
export async function* readChunks(request: IncomingMessage, options: BodyOptions): AsyncGenerator<Buffer> {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > options.maxBytes) throw tooLarge(options.maxBytes);
  options.askFor?.();
  let timedOut = false;
  const idle = setTimeout(() => {
    timedOut = true;
    request.pause();
    request.emit('error', problem('request_timeout', 'The request body stopped arriving.'));
  }, options.idleTimeout);
  idle.unref();
  let bytes = 0;
  try {
    // `destroyOnReturn: false`: the answer to a body that was refused still has to reach the client.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      idle.refresh();
      bytes += chunk.length;
      if (bytes > options.maxBytes) {
        throw tooLarge(options.maxBytes);
      }
      yield chunk;
      idle.refresh();
    }
  } catch (error) {
    if (isReset(error)) throw problem('request_canceled', 'The client went away before the body was complete.');
    throw error;
  } finally {
    clearTimeout(idle);
  }
  if (!timedOut && !request.complete) {
    throw problem('request_canceled', 'The client went away before the body was complete.');
  }
}

function tooLarge(maxBytes: number) {
  return problem('payload_too_large', `The request body is larger than ${maxBytes} bytes.`);
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'ABORT_ERR');
}

/** Only the identity encoding is read: a compressed JSON body could grow without bound. */
export function refuseContentEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw problem('unsupported_media_type', 'Compressed request bodies are not read here.');
  }
}

export async function readBody(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  return readAll(readChunks(request, options));
}

export async function readAll(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

/** Parses JSON bytes: well-formed UTF-8 without a byte order mark, at most 64 levels deep. */
export function parseJson(body: Uint8Array, what: string): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw problem('bad_request', `${what} is not valid UTF-8.`);
  }
  if (depthOf(text) > MAX_DEPTH) throw problem('bad_request', `${what} is nested deeper than ${MAX_DEPTH} levels.`);
  try {
    return JSON.parse(text);
  } catch {
    throw problem('bad_request', `${what} is not valid JSON.`);
  }
}

/** Deepest nesting, counted before parsing: what is parsed has to be safe to walk and to echo. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === 0x5c) at++;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

/** Checks `value` against `schema`; the first issue becomes the detail of a `bad_request`, or of another `code`. */
export function checkShape<T>(
  schema: z.ZodType<T>,
  value: unknown,
  what: string,
  code: ProblemCode = 'bad_request',
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const path = issue.path.map(String).join('.');
  if (path === '' && value === undefined) throw problem(code, `${what} is required.`);
  throw problem(code, path === '' ? `${what}: ${issue.message}` : `${path}: ${issue.message}`);
}
