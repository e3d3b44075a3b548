import { createHash } from 'node:crypto';
import { type Exchange, isRecord } from '../http/exchange.js';
import { parseJson } from '../target/json.js';
import { withRelativeTimes } from './curl.js';
import { routeOf } from './operation.js';
import { redact } from './redact.js';

/**
 * The request of a passed rule that is most similar to the deciding request of a failed rule. Reports show it to
 * explain the failure.
 */
export interface Nearest {
  /** Id of the passed rule that sent the request. */
  readonly rule: string;
  /** Method and path of the request, such as `GET /api/v1/repo`. Secrets are removed. */
  readonly request: string;
  readonly status: number;
  /** Differences between the two requests, one text per property with both values. Empty if none. */
  readonly differs: readonly string[];
}

/** Properties of a request by name, such as `header accept`. Requests are compared property by property. */
type Traits = ReadonlyMap<string, string>;

interface SeenRequest extends Pick<Exchange, 'rule' | 'method' | 'path' | 'status'> {
  readonly traits: Traits;
}

/** Maximum number of different requests that the log keeps per API operation. */
const MAX_KEPT = 500;
/** Maximum body size in bytes for a comparison member by member. A larger body is compared as a whole. */
const MAX_READ = 64 * 1024;
const MAX_MEMBERS = 200;
const MAX_LINES = 12;

/**
 * Log of the requests of a run. For a failed request, reports show the most similar request of a passed rule from this
 * log.
 */
export class RequestLog {
  readonly #operations = new Map<string, Map<string, SeenRequest>>();

  /** `now` returns the current time in milliseconds since the epoch. */
  constructor(readonly now: () => number) {}

  see(exchange: Exchange): void {
    const key = operationOf(exchange);
    const seen = this.#operations.get(key) ?? new Map<string, SeenRequest>();
    this.#operations.set(key, seen);
    if (seen.size >= MAX_KEPT) return;
    const { rule, method, path, status } = exchange;
    const traits = traitsOf(exchange, this.now());
    seen.set(`${rule} ${status} ${JSON.stringify([...traits])}`, { rule, method, path, status, traits });
  }

  /**
   * Returns the most similar request of another rule that passed. Returns undefined if no passed rule used the same
   * operation.
   *
   * - `isPassed`: returns true for the id of a passed rule.
   * - `expected`: response that the failed rule expected.
   */
  nearestTo(exchange: Exchange, isPassed: (rule: string) => boolean, expected: unknown): Nearest | undefined {
    const own = traitsOf(exchange, this.now());
    let best: { seen: SeenRequest; distance: number } | undefined;
    for (const seen of this.#operations.get(operationOf(exchange))?.values() ?? []) {
      if (seen.rule === exchange.rule || !isPassed(seen.rule)) continue;
      // Among equally similar requests, prefer one whose response has the expected status, then one that succeeded.
      const less = (isExpected(seen.status, expected) ? 0 : 0.5) + (seen.status > 299 ? 0.25 : 0);
      const distance = differences(own, seen.traits).length + less;
      if (best === undefined || distance < best.distance) best = { seen, distance };
    }
    if (best === undefined) return undefined;
    const { rule, method, path, status, traits } = best.seen;
    const lines = differences(own, traits).map((name) => line(name, own.get(name), traits.get(name)));
    const more = lines.length - MAX_LINES;
    return {
      rule,
      request: redact(`${method} ${path}`),
      status,
      differs: more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more`] : lines,
    };
  }
}

function isExpected(status: number, expected: unknown): boolean {
  const said = [expected].flat().map(String);
  return said.some((one) => one.startsWith(String(status)) || (one === '2xx' && status >= 200 && status <= 299));
}

function line(name: string, here: string | undefined, there: string | undefined): string {
  return redact(`${name}: ${here ?? 'none'}, there ${there ?? 'none'}`);
}

function differences(a: Traits, b: Traits): string[] {
  const names = [...new Set([...a.keys(), ...b.keys()])].filter((name) => a.get(name) !== b.get(name));
  const isAnonymous = [a, b].some((traits) => traits.get('authorization') === 'none');
  // Ignore token properties if one of the two requests had no token.
  return isAnonymous ? names.filter((name) => !/^(token|repository$)/.test(name)) : names;
}

/**
 * Returns a key for the operation of a request: method and route. The key of a Git ref advertisement also has the
 * `service` parameter.
 */
function operationOf({ method, path }: Exchange): string {
  const { pathname, query } = split(path);
  return `${method} ${routeOf(pathname)} ${query.find(([name]) => name === 'service')?.[1] ?? ''}`;
}

function split(path: string): { readonly pathname: string; readonly query: readonly (readonly [string, string])[] } {
  const at = path.indexOf('?');
  if (at < 0) return { pathname: path, query: [] };
  return { pathname: path.slice(0, at), query: [...new URLSearchParams(path.slice(at + 1))] };
}

function traitsOf(exchange: Exchange, now: number): Traits {
  const { recipe, path, requestHeaders, requestBody } = exchange;
  const traits = new Map<string, string>();
  const { pathname, query } = split(path);
  const repository = recipe?.repo ?? (typeof recipe?.claims?.repo === 'string' ? recipe.claims.repo : undefined);
  if (repository !== undefined) traits.set('repository', repository);
  addPath(traits, pathname, repository);
  for (const [name, value] of query) {
    const before = traits.get(`query ${name}`);
    traits.set(`query ${name}`, before === undefined ? show(value) : `${before} ${show(value)}`);
  }
  addToken(traits, exchange, now);
  for (const [name, value] of Object.entries(requestHeaders)) {
    if (name.toLowerCase() !== 'authorization') traits.set(`header ${name.toLowerCase()}`, redact(value));
  }
  if (requestBody !== undefined) addBody(traits, requestBody);
  return traits;
}

/**
 * Adds the path parameters to the properties of a request. Each rule uses its own repositories, so the repository name
 * itself is not compared. Only whether the path and the token name the same repository is compared.
 */
function addPath(traits: Map<string, string>, pathname: string, repository: string | undefined): void {
  const route = routeOf(pathname);
  if (route === pathname) return;
  if (route.startsWith('/{')) {
    const name = pathname.slice(1, pathname.length - route.length + '/{repo_name}'.length).replace(/\.git$/, '');
    addRepository(traits, name, repository);
    return;
  }
  const parts = pathname.split('/');
  route.split('/').forEach((part, at) => {
    if (part === '{repo_name}') addRepository(traits, parts[at] ?? '', repository);
    else if (part.startsWith('{')) traits.set(`path ${part.slice(1, -1)}`, parts[at] ?? '');
  });
}

function addRepository(traits: Map<string, string>, name: string, repository: string | undefined): void {
  const isOwn = repository !== undefined && name.toLowerCase().replaceAll('%2f', '/') === repository.toLowerCase();
  traits.set('repository in the path', isOwn ? "the token's" : name);
}

function addToken(traits: Map<string, string>, { recipe, requestHeaders }: Exchange, now: number): void {
  const value = Object.entries(requestHeaders).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  traits.set('authorization', value === undefined ? 'none' : (value.split(' ', 1)[0] ?? ''));
  if (recipe === undefined) return;
  const { repo: _repo, claims = {}, header = {}, ...rest } = withRelativeTimes(recipe, Math.floor(now / 1000));
  for (const [name, member] of Object.entries({ key: 'main', scopes: ['git:read'], lifetime: 600, ...rest })) {
    traits.set(`token ${name}`, show(member));
  }
  for (const [name, member] of Object.entries(claims)) traits.set(`token claim ${name}`, show(member));
  for (const [name, member] of Object.entries(header)) traits.set(`token header ${name}`, show(member));
}

function addBody(traits: Map<string, string>, body: Buffer): void {
  const values = body.length > MAX_READ ? undefined : readJson(body.toString('utf8'));
  if (values === undefined) {
    const digest = createHash('sha256').update(body).digest('hex').slice(0, 12);
    traits.set('body', `${body.length} bytes (sha256 ${digest}…)`);
    return;
  }
  for (const [index, value] of values.entries()) {
    addMembers(traits, values.length === 1 ? 'body' : `body line ${index + 1}`, value);
  }
}

/** Parses a body as one JSON value, or else as NDJSON (one value per line). Returns undefined if it is neither. */
function readJson(text: string): unknown[] | undefined {
  const whole = parseJson(text);
  if (whole !== undefined) return [whole];
  const lines = text.trimEnd().split('\n').map(parseJson);
  return lines.includes(undefined) ? undefined : lines;
}

function addMembers(traits: Map<string, string>, name: string, value: unknown): void {
  const waiting = [{ name, value }];
  for (const one of waiting) {
    const members = isRecord(one.value) ? Object.entries(one.value) : [];
    if (members.length === 0 || waiting.length + members.length > MAX_MEMBERS) traits.set(one.name, show(one.value));
    else waiting.push(...members.map(([member, inner]) => ({ name: `${one.name}.${member}`, value: inner })));
  }
}

function show(value: unknown): string {
  const text = redact(JSON.stringify(value) ?? 'nothing');
  return text.length > 120 ? `${text.slice(0, 120)}… (${text.length} characters)` : text;
}
