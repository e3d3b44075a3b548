import { type Exchange, headerOf } from '../http/exchange.js';
import { redact, redactBytes } from './redact.js';
import type { TranscriptEntry } from './results.js';

const SHOWN_BYTES = 1500;
const SHOWN_EXCHANGES = 6;

/** Formats the last `SHOWN_EXCHANGES` requests of a rule, with their responses, as text without secrets. */
export function writeTranscript(exchanges: readonly Exchange[]): TranscriptEntry[] {
  return exchanges.slice(-SHOWN_EXCHANGES).map((exchange) => ({
    request: redact(
      [
        `${exchange.method} ${exchange.path}`,
        ...Object.entries(exchange.requestHeaders).map(([name, value]) => fieldLine(name, value)),
        ...(exchange.recipe === undefined ? [] : [`(token: ${JSON.stringify(exchange.recipe)})`]),
        '',
        showBody(exchange.requestBody),
      ].join('\n'),
    ),
    response: redact(
      [
        ...(exchange.lost === undefined ? [] : [`(${exchange.lost})`]),
        ...(exchange.status === 0 ? [] : [String(exchange.status)]),
        ...Object.keys(exchange.headers).map((name) => fieldLine(name, headerOf(exchange, name) ?? '')),
        '',
        showBody(exchange.body),
      ].join('\n'),
    ),
  }));
}

/** Matches headers whose values are never shown. They may contain credentials that `redact` does not recognize. */
const SECRET_FIELDS = /^(cookie|set-cookie|proxy-authorization)$/i;

function fieldLine(name: string, value: string): string {
  return `${name}: ${SECRET_FIELDS.test(name) ? '<not shown>' : value}`;
}

function showBody(body: Buffer | undefined): string {
  if (body === undefined || body.length === 0) return '';
  // Remove secrets before shortening the body, because a shortened or hexadecimal secret could not be recognized.
  const part = redactBytes(body.subarray(0, 64 * 1024)).subarray(0, SHOWN_BYTES);
  // With `stream`, the decoder omits an incomplete UTF-8 character at the end. The shortening may have cut one.
  const text = new TextDecoder().decode(part, { stream: true });
  const shown =
    /[^\P{Cc}\t\r\n]/u.test(text) || text.includes('\ufffd') ? `${part.toString('hex').slice(0, 200)} (hex)` : text;
  return body.length > SHOWN_BYTES ? `${shown}… (${body.length} bytes)` : shown;
}
