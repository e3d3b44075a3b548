import { defined, parseJson } from '../target/json.js';
import { InvalidFile } from '../target/text-file.js';
import { type Exchange, FAULT_FIRED, isRecord, type JsonRecord } from './exchange.js';

/**
 * Entry of an HTTP Archive. It is either converted to an exchange (request and response), or has a reason why no rule
 * can check it.
 */
export type HarEntry = { readonly exchange: Exchange } | { readonly reason: string };

/**
 * Reads an HTTP Archive 1.2, as browsers, proxies and the emulator write it. Throws `InvalidFile` if the text is not an
 * HTTP Archive. Format:
 *
 *     {"log": {"version": "1.2", "entries": [{"request": {"method", "url", "headers": [{"name", "value"}]},
 *       "response": {"status", "headers", "content": {"size", "text", "encoding": "base64"}}}]}}
 */
export function readHar(text: string): readonly HarEntry[] {
  const value = parseJson(text.replace(/^\ufeff/, ''));
  if (value === undefined) throw new InvalidFile('is not JSON');
  const { entries } = member(value, 'log', 'the whole');
  if (!Array.isArray(entries)) throw new InvalidFile('is not an HTTP Archive: log.entries is not an array');
  return entries.map((entry, index) => readEntry(entry, `log.entries[${index}]`));
}

function member(value: unknown, name: string, where: string): JsonRecord {
  const found = isRecord(value) ? value[name] : undefined;
  if (!isRecord(found)) throw new InvalidFile(`is not an HTTP Archive: ${where} has no object ${name}`);
  return found;
}

function readEntry(entry: unknown, where: string): HarEntry {
  const request = member(entry, 'request', where);
  const response = member(entry, 'response', where);
  const { method, url } = request;
  const { status } = response;
  if (typeof method !== 'string')
    throw new InvalidFile(`is not an HTTP Archive: ${where}.request.method is not a string`);
  if (typeof url !== 'string') throw new InvalidFile(`is not an HTTP Archive: ${where}.request.url is not a string`);
  if (!Number.isInteger(status))
    throw new InvalidFile(`is not an HTTP Archive: ${where}.response.status is not an integer`);
  const requestHeaders = readHeaders(request.headers, `${where}.request`);
  const headers = readHeaders(response.headers, `${where}.response`);
  const place = readAddress(url);
  if (place === undefined) return { reason: 'not HTTP' };
  // The emulator writes an empty method for a request that it could not parse. Such a request has no operation to
  // check.
  if (method === '') return { reason: 'of a request that is not valid HTTP' };
  // Browsers write a status below 100 for a request that was blocked or aborted. It is not a response of the service.
  if (Number(status) < 100) return { reason: 'has no response' };
  const extra = isRecord(entry) && isRecord(entry._emulator) ? entry._emulator : {};
  const body = readBody(response, method, Number(status), extra);
  if (typeof body === 'string') return { reason: body };
  const sent = Object.fromEntries(
    Object.entries(requestHeaders).map(([name, value]) => [name, [value].flat().join(', ')]),
  );
  const token = tokenOf(sent.authorization);
  const posted = isRecord(request.postData) ? request.postData.text : undefined;
  const isInjected = headers[FAULT_FIRED] !== undefined || String(extra.origin).startsWith('injected');
  return {
    exchange: {
      rule: 'recorded',
      method,
      ...place,
      requestHeaders: sent,
      ...defined({ token, requestBody: typeof posted === 'string' ? Buffer.from(posted) : undefined }),
      status: Number(status),
      headers,
      body,
      milliseconds: 0,
      injected: isInjected,
      git: /\/(info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/.*)$/.test(place.path.replace(/\?.*/s, '')),
    },
  };
}

/**
 * Parses the header list of an HTTP Archive and returns the values by lower-case name. Omits HTTP/2 pseudo-header
 * fields such as `:method`.
 */
function readHeaders(value: unknown, where: string): Record<string, string | string[]> {
  if (!Array.isArray(value)) throw new InvalidFile(`is not an HTTP Archive: ${where}.headers is not an array`);
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const field of value) {
    if (!isRecord(field) || typeof field.name !== 'string' || typeof field.value !== 'string') {
      throw new InvalidFile(`is not an HTTP Archive: ${where}.headers has a field without a name and a value`);
    }
    const name = field.name.toLowerCase();
    if (name.startsWith(':')) continue;
    const before = headers[name];
    headers[name] = before === undefined ? field.value : [...[before].flat(), field.value];
  }
  return headers;
}

/**
 * Splits a URL into origin and path. The path includes the query and stays exactly as sent; a URL parser would
 * normalize it. User information is omitted. Returns undefined if the URL is invalid.
 */
function readAddress(url: string): { readonly origin: string; readonly path: string } | undefined {
  const [, rest] = /^https?:\/\/[^/?#]+([^#]*)/i.exec(url) ?? [];
  if (rest === undefined || !URL.canParse(url)) return undefined;
  return { origin: new URL(url).origin, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Returns the bytes of a response body in an HTTP Archive, or the reason why the body cannot be checked. */
function readBody(response: JsonRecord, method: string, status: number, extra: JsonRecord): Buffer | string {
  const content = isRecord(response.content) ? response.content : {};
  const { text, encoding, size } = content;
  if (isRecord(extra.truncated) && extra.truncated.answer === true) return 'with a truncated body';
  if (typeof text === 'string') {
    if (encoding === undefined || encoding === '') return Buffer.from(text);
    return encoding === 'base64' ? Buffer.from(text, 'base64') : 'with a body in an unknown encoding';
  }
  const isEmpty = method === 'HEAD' || status < 200 || [204, 205, 304].includes(status);
  const length = typeof size === 'number' && size >= 0 ? size : response.bodySize;
  return isEmpty || length === 0 ? Buffer.alloc(0) : 'without their body';
}

/**
 * Returns the token in an `Authorization` header: the `Bearer` value, or the `Basic` password. Returns undefined if
 * there is none.
 */
function tokenOf(value: string | undefined): string | undefined {
  const [, scheme = '', rest = ''] = /^(\S+) +(\S+)$/.exec(value ?? '') ?? [];
  if (/^bearer$/i.test(scheme)) return rest;
  if (!/^basic$/i.test(scheme)) return undefined;
  const pair = Buffer.from(rest, 'base64').toString('latin1');
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
}
