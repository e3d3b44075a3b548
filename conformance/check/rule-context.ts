import type { KeyRole, TokenRecipe } from '../auth/tokens.js';
import type { WireRequest } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import { NoResponse } from '../http/no-response.js';
import { Stopwatch } from '../http/stopwatch.js';
import { type AmbiguityCode, recordKey } from '../specification/ambiguities.js';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';
import { ApiResponse } from './api-response.js';
import { isMember, readOutcome } from './expect.js';
import { AssertionFailure, InjectedEvidence, Skip } from './outcomes.js';
import type { RunContext } from './run-context.js';

/** Options of a request besides method and path. */
export interface RequestOptions {
  /** Recipe of the bearer token; undefined to send no token. */
  readonly as?: TokenRecipe | undefined;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON body, sent with `Content-Type: application/json`. */
  readonly json?: unknown;
  /** NDJSON body, one value per line. Strings are sent unchanged, other values as JSON. */
  readonly lines?: readonly unknown[];
  /** Raw body. Takes precedence over `json` and `lines`. */
  readonly body?: string | Buffer;
  readonly contentType?: string;
  /** Fault to inject, in the syntax of the emulator's fault header. */
  readonly fault?: string;
  /** True if the rule expects a 429, so that the client does not wait and retry. */
  readonly wantsThrottling?: boolean;
  /** True if the fault may not apply to this operation. By default, the rule is skipped if its fault does not fire. */
  readonly faultIsOptional?: boolean;
  /** Origin of the request; default: the origin of the API. */
  readonly origin?: string;
  readonly git?: boolean;
  /**
   * True if the rule fails when this request is refused. The repository then does not have to be viewed for changes.
   */
  readonly mustSucceed?: boolean;
  /** Recipe of the token in a hand-written `Authorization` header, for the report. */
  readonly recipe?: TokenRecipe | undefined;
}

/** The rule, or the fixture, that a context belongs to. A fixture has no reach. */
export interface CheckedRule {
  readonly id: string;
  readonly group: string;
  readonly reach?: 'any' | 'needs-setup' | 'emulator';
}

/** Context of the check of one rule: the functions that it calls, and everything that it sends, observes and notes. */
export class RuleContext {
  readonly exchanges: Exchange[];
  /** Observed behaviour that the specification leaves open, by name. */
  readonly observations: Record<string, unknown>;
  /** Tolerated variants observed that are not the one the specification supports best. */
  readonly otherVariants: string[];
  /** Messages that turn the verdict into a warning. */
  readonly warnings: string[];
  /** Measures the working time of the rule. */
  readonly stopwatch: Stopwatch;

  /** `outer`: an existing context of the same rule, whose notes and exchanges the new context shares. */
  constructor(
    readonly rule: CheckedRule,
    readonly run: RunContext,
    outer?: RuleContext,
  ) {
    this.exchanges = outer?.exchanges ?? [];
    this.observations = outer?.observations ?? {};
    this.otherVariants = outer?.otherVariants ?? [];
    this.warnings = outer?.warnings ?? [];
    this.stopwatch = outer?.stopwatch ?? new Stopwatch();
  }

  get target(): Target {
    return this.run.target;
  }

  /** Current time in seconds since the epoch, the unit of token times. */
  get seconds(): number {
    return Math.floor(this.run.now() / 1000);
  }

  get(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.request('GET', path, options);
  }

  post(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.request('POST', path, options);
  }

  /** Sends a request. Fails the rule if no complete response arrives. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    if (this.stopwatch.isStopped) throw new Error(`${this.rule.id} requested ${path} after its end`);
    const name = namedToMake(method, path, options);
    if (name?.startsWith(this.run.prefix)) await this.run.onRepository(name);
    try {
      const { refusedWrites, client, target, signer, sleep } = this.run;
      const timed = { send: (request: WireRequest) => client.send(request, this.stopwatch) };
      const sight = { client: timed, target, signer, sleep };
      const sent = await refusedWrites.send(sight, this.wireRequest(method, path, options), options);
      const response = this.take(sent.exchange, options);
      if (sent.complaint !== undefined) throw sent.complaint;
      return response;
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      this.exchanges.push(error.exchange);
      throw new AssertionFailure(`${method} ${path} must get a response`, 'an HTTP response', error.loss.seen);
    }
  }

  /** Returns the request as it is sent. */
  wireRequest(method: string, path: string, options: RequestOptions = {}): WireRequest {
    const token = options.as === undefined ? undefined : this.token(options.as);
    const recipe = options.as ?? options.recipe;
    const body = bodyOf(options);
    const type = options.contentType ?? typeOf(options);
    return {
      rule: this.rule.id,
      method,
      origin: options.origin ?? this.target.baseUrl,
      path: path + queryOf(options.query),
      headers: {
        ...defined({
          'content-type': type,
          authorization: token && `Bearer ${token}`,
          'x-emulator-fault': options.fault,
        }),
        ...options.headers,
      },
      git: options.git ?? false,
      ...defined({ body, token, recipe }),
      wantsThrottling: options.wantsThrottling ?? false,
    };
  }

  /**
   * Records an exchange as evidence of the verdict and returns its response. Skips the rule if the requested fault did
   * not fire. Throws `InjectedEvidence` if a fault made the response, unless the rule's reach is `emulator`.
   */
  take(exchange: Exchange, { fault, faultIsOptional = false }: RequestOptions = {}): ApiResponse {
    this.exchanges.push(exchange);
    if (exchange.injected && this.rule.reach !== 'emulator') throw new InjectedEvidence(exchange);
    if (fault !== undefined && !faultIsOptional && !exchange.injected) {
      throw new Skip(`the target does not support the fault ${fault}`);
    }
    return new ApiResponse(exchange);
  }

  /** Signs a recipe. Skips the rule if the required key was not given. */
  token(recipe: TokenRecipe): string {
    this.key(recipe.key ?? 'main');
    return this.run.signer.sign(recipe);
  }

  key(role: KeyRole): SigningKey {
    const key = this.run.signer.key(role);
    if (key === undefined) throw new Skip(MISSING_KEY[role]);
    return key;
  }

  /** Notes what the target does where the specification leaves it open: a value, or the outcome of a response. */
  observe(name: string, seen: unknown): void {
    this.observations[name] = seen instanceof ApiResponse ? seen.outcome : seen;
  }

  /**
   * Expects any member of a closed set. The first member is the variant that the specification supports best. The
   * observed member is recorded under a key, and must be the same for every later call with this key.
   */
  tolerate(code: AmbiguityCode, where: string, response: ApiResponse, members: readonly string[]): void {
    const member = members.find((candidate) => isMember(response, candidate));
    if (member === undefined)
      throw new AssertionFailure(
        'the response must be one of those that the specification supports',
        members,
        response.outcome,
      );
    this.#record(code, where, readOutcome(response), member !== members[0]);
  }

  /** Expects any member of a closed set, like `tolerate`, for a value other than a status. */
  tolerateValue(code: AmbiguityCode, where: string, seen: string, members: readonly string[]): void {
    if (!members.includes(seen))
      throw new AssertionFailure('the value is one of those the text supports', members, seen);
    this.#record(code, where, seen, seen !== members[0]);
  }

  /**
   * Expects an invalid token to be refused (A01): 403 by the table of token failures, 401 by the text of most
   * endpoints.
   */
  expectTokenRefused(response: ApiResponse, where: string): void {
    this.tolerate('A01', `invalid token, ${where}`, response, ['403 forbidden', '401 unauthorized']);
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  /** Returns a repository name that is unused on the target. */
  uniqueName(): string {
    return this.run.uniqueName();
  }

  /** Skips the rule unless the suite may write to the target. */
  needsWrite(): void {
    if (!this.target.write) throw new Skip('needs a new repository: --write');
  }

  /** Skips the rule unless the target is an emulator, where failures can be caused on purpose. */
  needsEmulator(): void {
    if (this.target.adminUrl === undefined) throw new Skip(ONLY_ON_EMULATOR);
  }

  /** Skips the rule unless routes known only from published clients may be used. */
  needsCompanion(): void {
    if (!this.target.companion) {
      throw new Skip(
        'the specification names this operation without its route; --companion tries the route clients use',
      );
    }
  }

  /**
   * Polls until `look` returns a result, because a service may show a write with a delay. Fails the rule after 5
   * seconds.
   */
  async eventually<Result>(look: () => Promise<Result | false | undefined>, what: string): Promise<Result> {
    const started = this.stopwatch.elapsed;
    let result = await look();
    for (let wait = 20; result === false || result === undefined; wait = Math.min(wait * 2, 500)) {
      if (this.stopwatch.elapsed - started > 5000)
        throw new AssertionFailure(`${what}, within five seconds`, true, false);
      await this.run.sleep(wait);
      result = await look();
    }
    const delay = Math.round(this.stopwatch.elapsed - started);
    if (delay > 100) this.observe('delay_ms', delay);
    return result;
  }

  #record(code: AmbiguityCode, where: string, seen: string, departs: boolean): void {
    const key = recordKey(code, where);
    this.run.variants.record(key, seen, this.rule.id);
    if (departs) this.otherVariants.push(`${key}: ${seen}`);
  }
}

/** Reason for skipping a rule of reach `emulator` on other targets. */
export const ONLY_ON_EMULATOR = 'needs a failure that only the emulator can cause on purpose';

const MISSING_KEY: Readonly<Record<KeyRole, string>> = {
  main: 'needs --key',
  restricted: 'needs a restricted key: --restricted-key',
  deleted: 'needs a key that was registered and deleted: --deleted-key',
  second: 'needs a second organization: --second-org and --second-key',
  ES256: 'needs a registered P-256 key: --other-key',
  ES384: 'needs a registered P-384 key: --other-key',
  ES512: 'needs a registered P-521 key: --other-key',
  RS256: 'needs a registered RSA key: --other-key',
};

/** Name of the repository that a request creates, read from its token; undefined for other requests. */
function namedToMake(method: string, path: string, { as }: RequestOptions): string | undefined {
  return method === 'POST' && /^\/api\/(v1\/)?repos\/?$/.test(path) ? as?.repo : undefined;
}

function bodyOf(options: RequestOptions): Buffer | undefined {
  if (options.body !== undefined) return Buffer.from(options.body as string);
  if (options.json !== undefined) return Buffer.from(JSON.stringify(options.json));
  if (options.lines !== undefined) return Buffer.from(writeLines(options.lines));
  return undefined;
}

function typeOf(options: RequestOptions): string | undefined {
  if (options.lines !== undefined) return 'application/x-ndjson';
  return options.json !== undefined || options.body !== undefined ? 'application/json' : undefined;
}

function writeLines(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

function queryOf(query: RequestOptions['query']): string {
  if (query === undefined) return '';
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map(
      (one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`,
    ),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
