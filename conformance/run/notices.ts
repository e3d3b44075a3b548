import { createHash } from 'node:crypto';
import { type Exchange, headerOf, isRecord, jsonOf, mediaTypeOf } from '../http/exchange.js';
import { knownRouteOf } from '../report/operation.js';
import { DOCUMENTED_ROUTES } from '../rules/documented-operations.js';

/**
 * Limits of `RepeatedResponse`. It reports that responses are alike only after at least `FEWEST` responses, if at least
 * this share of them (0 to 1) is equal.
 */
const FEWEST = 8;
const SHARE = 0.9;

interface Kind {
  readonly sample: Exchange;
  count: number;
}

/**
 * Detects a target that sends nearly the same response to every request, for example because its URL is a web page and
 * not the API. Two responses are equal if they have the same status and media type. Below status 400, the first 4,096
 * bytes of the body must be equal too.
 */
export class RepeatedResponse {
  #answers = 0;
  readonly #kinds = new Map<string, Kind>();

  see(exchange: Exchange): void {
    if (exchange.injected) return;
    this.#answers += 1;
    const body = createHash('sha1').update(exchange.body.subarray(0, 4096)).digest('base64');
    const key = [exchange.status, mediaTypeOf(exchange), exchange.status < 400 ? body : ''].join(' ');
    const kind = this.#kinds.get(key);
    if (kind === undefined) this.#kinds.set(key, { sample: exchange, count: 1 });
    else kind.count += 1;
  }

  notices(): string[] {
    if (this.#answers < FEWEST) return [];
    const kind = [...this.#kinds.values()].find(({ count }) => count >= SHARE * this.#answers);
    return kind === undefined
      ? []
      : [`${kind.count} of ${this.#answers} responses are identical: ${describe(kind.sample)}`];
  }
}

function describe(exchange: Exchange): string {
  const { status } = exchange;
  const type = mediaTypeOf(exchange);
  const location = headerOf(exchange, 'location')?.replace(/[?#].*/s, '');
  const question = 'is this the address of the API?';
  if (status > 299 && status < 400) return `${status}, a redirect to ${location ?? 'nowhere'}; ${question}`;
  if (type === 'text/html') return `${status}, a web page (text/html); ${question}`;
  return `${status} ${type || 'without a media type'}, ${exchange.body.length} bytes`;
}

/**
 * Minimum number of `route_not_found` responses for a route to count as missing. A single one proves nothing, because
 * it may be about a repository name in the path.
 */
const FEWEST_NOT_FOUND = 2;

interface ResponsesByRoute {
  readonly rules: Set<string>;
  /** Number of 404 responses with the code `route_not_found`. */
  notFound: number;
  /** True if at least one response showed that the route exists. */
  found: boolean;
}

/**
 * Detects documented routes that a target lacks. A missing route breaks many rules, so the report names it once as
 * their common cause.
 */
export class MissingRoutes {
  readonly #routes = new Map<string, ResponsesByRoute>();

  see(exchange: Exchange): void {
    if (exchange.injected) return;
    const { method, path, rule, status } = exchange;
    const route = `${method} ${knownRouteOf(path.replace(/[?#].*/s, ''))}`;
    if (!DOCUMENTED_ROUTES.has(route)) return;
    const responses = this.#routes.get(route) ?? { rules: new Set(), notFound: 0, found: false };
    this.#routes.set(route, responses);
    responses.rules.add(rule);
    // 401 and 403 do not show that the route exists, because a target may reject the token before it looks up the
    // route.
    if (isRouteNotFound(exchange)) responses.notFound += 1;
    else if (status !== 401 && status !== 403) responses.found = true;
  }

  notices(): string[] {
    return [...this.#routes].flatMap(([route, { rules, notFound, found }]) => {
      if (found || notFound < FEWEST_NOT_FOUND) return [];
      return [`${route} always returns route_not_found; used by ${rules.size} rule${rules.size === 1 ? '' : 's'}`];
    });
  }
}

function isRouteNotFound(exchange: Exchange): boolean {
  if (exchange.status !== 404) return false;
  const body = jsonOf(exchange);
  return isRecord(body) && body.code === 'route_not_found';
}
