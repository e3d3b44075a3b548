import { exchangeOf, type WireRequest } from '../http/client.js';
import { type Exchange, isRecord, type JsonRecord } from '../http/exchange.js';
import { hangUp } from '../http/hang-up.js';
import { lossOf } from '../http/no-response.js';
import { parseJson } from '../target/json.js';
import { askAdmin } from './admin.js';
import type { ApiResponse } from './api-response.js';
import { AssertionFailure, Skip } from './outcomes.js';
import type { RequestOptions, RuleContext } from './rule-context.js';

/**
 * Sends a request, disconnects without reading the response, and returns the response that the target would have sent.
 * The response is read from the emulator's request journal, so the rule is skipped on other targets. A unique token
 * subject identifies the request in the journal.
 *
 * - `sentBytes`: number of body bytes to send before the disconnect. Default: all.
 */
export async function responseToDisconnected(
  t: RuleContext,
  method: string,
  path: string,
  options: RequestOptions & { readonly sentBytes?: number },
): Promise<ApiResponse> {
  if (t.target.baseUrl.startsWith('https:')) throw new Skip('the suite closes connections early only over plain HTTP');
  const subject = t.uniqueName();
  const as = { ...options.as, claims: { ...options.as?.claims, sub: subject } };
  const request = t.wireRequest(method, path, { ...options, as });
  try {
    await hangUp(request, options.sentBytes ?? request.body?.length ?? 0);
  } catch (error) {
    const loss = lossOf(error);
    throw loss
      ? new AssertionFailure(`the target must accept the request ${method} ${path}`, 'the request sent', loss.seen)
      : error;
  }
  const entry = await t.eventually(() => endedRequest(t, subject), 'the journal must show how the request ended');
  return t.take(journaled(request, entry), options);
}

async function endedRequest(t: RuleContext, subject: string): Promise<JsonRecord | undefined> {
  const { items } = await askAdmin(t, 'GET', `/requests?subject=${encodeURIComponent(subject)}`);
  const entry: unknown = Array.isArray(items) ? items[0] : undefined;
  return isRecord(entry) && entry.outcome !== 'open' ? entry : undefined;
}

/**
 * Converts an entry of the emulator's request journal into an exchange (request and response). A rule can then check
 * the response like any other.
 */
function journaled(request: WireRequest, entry: JsonRecord): Exchange {
  const response = isRecord(entry.answer) ? entry.answer : {};
  const pairs = Array.isArray(response.headers) ? (response.headers as [string, string][]) : [];
  const headers: Exchange['headers'] = Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  const sentBody = isRecord(response.body) && typeof response.body.text === 'string' ? response.body.text : '';
  // If the recorded body is not complete JSON, use the error code of the entry. The journal keeps only the parts of a
  // chunked body that were sent before the client disconnected.
  const body = parseJson(sentBody) !== undefined ? sentBody : JSON.stringify({ code: entry.code });
  return exchangeOf(request, Number(entry.status), headers, Buffer.from(body));
}
