import { request } from 'undici';
import { parseJson } from '../target/json.js';
import { proxied, proxyOf } from './proxy.js';

/** Request to a route of the emulator's admin API (paths below `/_emulator`). */
export interface AdminRequest {
  readonly url: string;
  readonly method?: string;
  readonly json?: object | undefined;
  readonly token?: string | undefined;
  /** Timeout in milliseconds. Default: 15,000. */
  readonly timeout?: number;
}

export type AdminResponse = Awaited<ReturnType<typeof callAdmin>>;

/**
 * Sends a request to the emulator's admin API, which prepares the situation that a rule checks. The request is not
 * rate-limited, not counted, and not recorded as evidence. The result's `json` is undefined if the response body is not
 * JSON.
 */
export async function callAdmin({ url, method = 'GET', json, token, timeout = 15_000 }: AdminRequest) {
  const proxy = proxyOf(url);
  const dispatcher = proxy === undefined ? undefined : proxied(proxy, {});
  const { statusCode, body } = await request(url, {
    ...(dispatcher && { dispatcher }),
    method: method as 'GET',
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: json === undefined ? null : JSON.stringify(json),
    headersTimeout: timeout,
    bodyTimeout: timeout,
  });
  const text = await body.text();
  await dispatcher?.close();
  return { status: statusCode, text, json: parseJson(text) };
}
