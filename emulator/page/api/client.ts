import type { MintedToken } from '@emulator/admin/tokens.js';
import { authorization, isTokenWanted } from './session.js';

/**
 * Error of a request to the admin API. Either the emulator refused the request (problem details, RFC 9457), or it did
 * not respond.
 */
export class ApiError extends Error {
  constructor(
    /** HTTP status code of the response; 0 if the emulator did not respond. */
    readonly status: number,
    message: string,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** Creates the error for a request to which the emulator did not respond. */
export function unreachable(): ApiError {
  return new ApiError(0, 'The emulator does not respond. Is it still running?');
}

export type QueryValue = string | number | boolean | undefined;

interface Sent {
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** Body of the request. A string is sent unchanged; any other value is sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Base URL of the admin API. It is the folder of the web page, because the page is served below the path of the admin
 * API.
 */
export const API = new URL('./', document.baseURI);

/**
 * Returns the URL of a route of the admin API. `path` must already be percent-encoded, such as
 * `repositories/team%2Fapp/refs`. Query parameters with the value undefined are omitted.
 */
export function urlOf(path: string, query: Readonly<Record<string, QueryValue>> = {}): URL {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, `${value}`);
  return url;
}

/** Template tag that percent-encodes the inserted values of a path: ``route`repositories/${name}/refs` ``. */
export function route(texts: TemplateStringsArray, ...values: readonly string[]): string {
  return texts.map((text, at) => text + (at < values.length ? encodeURIComponent(values[at]!) : '')).join('');
}

/**
 * Sends a request to the admin API and returns the response. Throws `ApiError` if the emulator refuses the request or
 * does not respond. If the status is 401, the page asks the user for the admin token.
 */
export async function send(
  method: string,
  path: string,
  { query, body, signal, headers }: Sent = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(urlOf(path, query), {
      method,
      headers: { ...authorization(), ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
      cache: 'no-store',
      credentials: 'omit',
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; title?: string };
  if (response.status === 401) isTokenWanted.value = true;
  throw new ApiError(response.status, problem.detail ?? problem.title ?? `The emulator answered ${response.status}.`);
}

async function sendForJson<T>(method: string, path: string, sent?: Sent): Promise<T> {
  const response = await send(method, path, sent);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, sent?: Sent): Promise<T> => sendForJson('GET', path, sent);
export const post = <T>(path: string, body?: unknown, sent?: Sent): Promise<T> =>
  sendForJson('POST', path, { ...sent, body });
export const patch = <T>(path: string, body: unknown): Promise<T> => sendForJson('PATCH', path, { body });
export const remove = (path: string, sent?: Sent): Promise<void> => sendForJson('DELETE', path, sent);

/**
 * Creates a token for requests to the emulated service. The emulator signs it with a test key. `claims` is the body of
 * the request `POST tokens`.
 */
export async function mintToken(claims: object): Promise<string> {
  return (await post<MintedToken>('tokens', claims)).token;
}

/**
 * One part of a list in a response of the admin API. `next_cursor` is the value of the query parameter `cursor` that
 * requests the next part; null if this is the last part.
 */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/** Reads all items of a list of the admin API. Sends one request for each part of the list. */
export async function all<T>(path: string, { query, signal }: Sent = {}): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<T> = await get(path, { query: { ...query, cursor }, signal });
    items.push(...page.items);
    // An absent or null cursor becomes undefined, which ends the loop. Some routes return the whole list and no cursor.
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return items;
}
