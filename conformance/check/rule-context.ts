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

/** Options of a request that a rule sends. Method and path are separate parameters. */
export interface RequestOptions {
  /** Recipe of the bearer token, which is signed for this request. Undefined sends no token. */
  readonly as?: TokenRecipe | undefined;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Value of the JSON body. Sets `Content-Type: application/json`, unless `contentType` is set. */
  readonly json?: unknown;
  /** Values of the NDJSON body, one per line. Strings are sent unchanged, other values as JSON. */
  readonly lines?: readonly unknown[];
  /** Body to send unchanged, as bytes or text. If set, `json` and `lines` are ignored. */
  readonly body?: string | Buffer;
  readonly contentType?: string;
  /** True to send the body in chunks, without `Content-Length`. Default: false. */
  readonly chunked?: boolean;
  /**
   * Fault (injected failure) that the emulator applies to this request. The syntax is that of the `x-emulator-fault`
   * header.
   */
  readonly fault?: string;
  /**
   * True if the rule expects the status 429 (throttling). The client then returns this response instead of waiting and
   * retrying.
   */
  readonly wantsThrottling?: boolean;
  /**
   * True if the fault may have no effect on this operation. If false (the default), the rule is skipped when the fault
   * did not change the response.
   */
  readonly faultIsOptional?: boolean;
  /** Origin to which the request is sent, for example the Git host. Default: origin of the API. */
  readonly origin?: string;
  readonly git?: boolean;
  /**
   * True if the rule fails anyway when this request is refused, or if the rule compares the repository itself. The
   * suite then does not check that a refused write changes nothing.
   */
  readonly mustSucceed?: boolean;
  /** Recipe of the token in an `Authorization` header that the rule wrote itself. The report prints the recipe. */
  readonly recipe?: TokenRecipe | undefined;
}

/**
 * Sender of a context's requests: a rule, or a fixture (prepared state of the target, such as a repository). `reach` is
 * undefined for a fixture.
 */
export interface CheckedRule {
  readonly id: string;
  readonly group: string;
  readonly reach?: 'any' | 'needs-setup' | 'emulator';
}

/**
 * Context in which one rule is checked. It provides the functions that the check calls. It also collects the exchanges
 * (requests and responses) and notes from which the verdict is derived.
 */
export class RuleContext {
  readonly exchanges: Exchange[];
  /**
   * What the target did where the specification leaves the behaviour open. The keys are the names of the observations.
   */
  readonly observations: Record<string, unknown>;
  /**
   * Observed responses that are permitted only because the specification contradicts itself. The response that it
   * supports best is not among them. If there is one, the verdict is `variant` instead of `pass`.
   */
  readonly otherVariants: string[];
  /** Messages that the check passed to `warn`. If there is one, the verdict is `warn` instead of `pass`. */
  readonly warnings: string[];
  /**
   * Measures the working time of the rule. Waits for the rate limit, throttling and fixtures do not count. The run ends
   * a rule whose working time is too long.
   */
  readonly stopwatch: Stopwatch;

  /**
   * `outer`: existing context of the same rule. The new context shares its exchanges and notes, so both count for one
   * verdict. A part of a rule that runs in another namespace of the emulator needs this.
   */
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

  /**
   * Default branch of the repositories that this run creates, as the record of the first one states it. `main` if the
   * run has created no repository yet, or if the record has no `default_branch`.
   */
  get defaultBranch(): string {
    return this.run.created.defaultBranch ?? 'main';
  }

  /** Current time in seconds since the epoch. Token claims such as `iat` and `exp` use this unit. */
  get seconds(): number {
    return Math.floor(this.run.now() / 1000);
  }

  get(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.request('GET', path, options);
  }

  post(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return this.request('POST', path, options);
  }

  /**
   * Sends a request and records its response as evidence for the verdict. Fails the rule if no complete response
   * arrives, or if a refused write changed the repository. The name of a repository to create is recorded before the
   * request, so that cleanup can delete it.
   */
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

  /** Builds the request with its final path, headers and body. Does not send it. */
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
      chunked: options.chunked ?? false,
      ...defined({ body, token, recipe }),
      wantsThrottling: options.wantsThrottling ?? false,
    };
  }

  /**
   * Records an exchange (request and response) as evidence for the verdict and returns its response. Skips the rule if
   * the requested fault did not change the response. Throws `InjectedEvidence` if a fault changed the response of a
   * rule whose reach is not `emulator`, because such a response does not show the target's ordinary behaviour.
   */
  take(exchange: Exchange, { fault, faultIsOptional = false }: RequestOptions = {}): ApiResponse {
    this.exchanges.push(exchange);
    if (exchange.injected && this.rule.reach !== 'emulator') throw new InjectedEvidence(exchange);
    if (fault !== undefined && !faultIsOptional && !exchange.injected) {
      throw new Skip(`the target does not support the fault ${fault}`);
    }
    return new ApiResponse(exchange);
  }

  /**
   * Returns a signed token for a recipe (description of a token). Skips the rule if the user did not give the required
   * key.
   */
  token(recipe: TokenRecipe): string {
    this.key(recipe.key ?? 'main');
    return this.run.signer.sign(recipe);
  }

  key(role: KeyRole): SigningKey {
    const key = this.run.signer.key(role);
    if (key === undefined) throw new Skip(MISSING_KEY[role]);
    return key;
  }

  /**
   * Records for the report what the target does where the specification leaves the behaviour open. `seen`: a value, or
   * a response. Of a response, status and error code are recorded.
   */
  observe(name: string, seen: unknown): void {
    this.observations[name] = seen instanceof ApiResponse ? seen.outcome : seen;
  }

  /**
   * Fails the rule unless the response is one of `members`. These are the responses that a contradictory or silent
   * specification permits; the first is the one that it supports best. The observed member is recorded under `code` and
   * `where`. The target must then give this response in all later calls with the same `code` and `where`.
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

  /**
   * Fails the rule unless the value is one of `members`. Like `tolerate`, but for a value instead of status and error
   * code.
   */
  tolerateValue(code: AmbiguityCode, where: string, seen: string, members: readonly string[]): void {
    if (!members.includes(seen))
      throw new AssertionFailure('the value is one of those the text supports', members, seen);
    this.#record(code, where, seen, seen !== members[0]);
  }

  /**
   * Fails the rule unless the target refused an invalid token. Two responses are permitted, because the specification
   * is ambiguous (A01): 403 by its table of token failures, 401 by the text of most endpoints. `where`: description of
   * the request.
   */
  expectTokenRefused(response: ApiResponse, where: string): void {
    this.tolerate('A01', `invalid token, ${where}`, response, ['403 forbidden', '401 unauthorized']);
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  /**
   * Returns a repository name that this run has not used yet. The name has the prefix of the run, so that cleanup can
   * delete the repository.
   */
  uniqueName(): string {
    return this.run.uniqueName();
  }

  /** Returns a name for a branch or tag that this run has not used yet. It begins with `stem` and has no slash. */
  uniqueRef(stem = 'ref'): string {
    return `${stem}-${this.uniqueName().replaceAll('/', '-')}`;
  }

  /** Skips the rule unless the suite may write to the target (`--write`). */
  needsWrite(): void {
    if (!this.target.write) throw new Skip('needs a new repository: --write');
  }

  /** Skips the rule unless the target is an emulator. Only an emulator can cause failures on purpose. */
  needsEmulator(): void {
    if (this.target.adminUrl === undefined) throw new Skip(ONLY_ON_EMULATOR);
  }

  /**
   * Skips the rule unless the suite may use undocumented routes (`--companion`). These routes are known only from
   * published clients; the specification does not show them.
   */
  needsCompanion(): void {
    if (!this.target.companion) {
      throw new Skip(
        'the specification names this operation without its route; --companion tries the route clients use',
      );
    }
  }

  /**
   * Calls `look` repeatedly until it returns a result, because a service may show a write with a delay. `look` returns
   * false or undefined if there is no result yet. Fails the rule after 5 seconds of its working time, or later on a
   * target with high latency.
   */
  async eventually<Result>(look: () => Promise<Result | false | undefined>, what: string): Promise<Result> {
    const started = this.stopwatch.elapsed;
    let result = await look();
    for (let wait = 20; result === false || result === undefined; wait = Math.min(wait * 2, 500)) {
      const limit = this.run.latency.scale(EVENTUALLY);
      if (this.stopwatch.elapsed - started > limit)
        throw new AssertionFailure(`${what}, within ${Math.round(limit / 1000)} seconds`, true, false);
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

/** Milliseconds after which `eventually` fails on a target with low latency. */
const EVENTUALLY = 5000;

/** Reason that the report shows when a rule of reach `emulator` is skipped because the target is not an emulator. */
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

/**
 * Returns the name of the repository that a request creates. The name is in the token's `repo`. Returns undefined if
 * the request does not create a repository.
 */
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
