import type { KeyRole, TokenRecipe } from '../auth/tokens.js';
import type { WireRequest } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import { NoAnswer } from '../http/no-answer.js';
import { Stopwatch } from '../http/stopwatch.js';
import { type AmbiguityCode, recordKey } from '../specification/ambiguities.js';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import type { Target } from '../target/target.js';
import { Answer } from './answer.js';
import { isMember, readOutcome } from './expect.js';
import { AssertionFailure, InjectedEvidence, Skip } from './outcomes.js';
import type { RunContext } from './run-context.js';

/** What a request has beside its method and path. */
export interface RequestOptions {
  /** Makes the bearer token. Undefined: the request has no token. */
  readonly as?: TokenRecipe | undefined;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with `Content-Type: application/json`. */
  readonly json?: unknown;
  /** Sent as NDJSON: strings go out as they are, other values as JSON, one a line. */
  readonly lines?: readonly unknown[];
  /** Sent as it is, whatever else is given. */
  readonly body?: string | Buffer;
  readonly contentType?: string;
  /** A failure to force by the emulator's own request header. */
  readonly fault?: string;
  /** Whether a 429 is what the rule wants to see, and not a reason to wait. */
  readonly wantsThrottling?: boolean;
  /** Whether the failure may leave this operation alone. Default: a fault that does not fire is not there. */
  readonly faultIsOptional?: boolean;
  /** Another origin than the API's. */
  readonly origin?: string;
  readonly git?: boolean;
  /** Whether the rule fails when this is refused, so that nobody has to look at what a refused write changed. */
  readonly mustSucceed?: boolean;
  /** How the token in a hand-written `Authorization` header was made: for the report. */
  readonly recipe?: TokenRecipe | undefined;
}

/** The rule that a context is for; a fixture is one that any rule may rest on. */
export interface CheckedRule {
  readonly id: string;
  readonly group: string;
  readonly reach?: 'any' | 'needs-setup' | 'emulator';
}

/** What the check of one rule is given, and everything it sends, sees and notes down. */
export class RuleContext {
  readonly exchanges: Exchange[];
  /** What the rule saw where the specification leaves the answer open. */
  readonly observations: Record<string, unknown>;
  /** Tolerated answers that are not the one the specification supports best. */
  readonly otherVariants: string[];
  /** Sentences that make the verdict a warning. */
  readonly warnings: string[];
  /** How long the rule has been at work. */
  readonly stopwatch: Stopwatch;

  /** `outer`: the context of the same rule whose notes this one writes to as well. */
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

  /** Seconds since the epoch, as the times of tokens are counted. */
  get seconds(): number {
    return Math.floor(this.run.now() / 1000);
  }

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.request('GET', path, options);
  }

  post(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.request('POST', path, options);
  }

  /** Sends a request. That it gets no whole answer breaks the rule. */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    if (this.stopwatch.isStopped) throw new Error(`${this.rule.id} is over, and asks for ${path}`);
    const name = namedToMake(method, path, options);
    if (name?.startsWith(this.run.prefix)) await this.run.onRepository(name);
    try {
      const { refusedWrites, client, target, signer, sleep } = this.run;
      const timed = { send: (request: WireRequest) => client.send(request, this.stopwatch) };
      const sight = { client: timed, target, signer, sleep };
      const sent = await refusedWrites.send(sight, this.wireRequest(method, path, options), options);
      const answer = this.take(sent.exchange, options);
      if (sent.complaint !== undefined) throw sent.complaint;
      return answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.exchanges.push(error.exchange);
      throw new AssertionFailure(`${method} ${path} is answered`, 'an HTTP answer', error.loss.seen);
    }
  }

  /** What a request is on the wire. */
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
   * Takes an exchange as one that the verdict rests on. Skips the rule where the fault it asked for is not there. An
   * answer that a fault made is no evidence but for rules of reach `emulator`: `InjectedEvidence` is thrown for others.
   */
  take(exchange: Exchange, { fault, faultIsOptional = false }: RequestOptions = {}): Answer {
    this.exchanges.push(exchange);
    if (exchange.injected && this.rule.reach !== 'emulator') throw new InjectedEvidence(exchange);
    if (fault !== undefined && !faultIsOptional && !exchange.injected) {
      throw new Skip(`the target has no fault ${fault}`);
    }
    return new Answer(exchange);
  }

  /** Signs a recipe. Skips the rule when the key it asks for was not given. */
  token(recipe: TokenRecipe): string {
    this.key(recipe.key ?? 'main');
    return this.run.signer.sign(recipe);
  }

  key(role: KeyRole): SigningKey {
    const key = this.run.signer.key(role);
    if (key === undefined) throw new Skip(MISSING_KEY[role]);
    return key;
  }

  /** Notes what the target does where the specification leaves it open: a value, or the outcome of an answer. */
  observe(name: string, seen: unknown): void {
    this.observations[name] = seen instanceof Answer ? seen.outcome : seen;
  }

  /**
   * Accepts any member of a closed set, the first being the reading the specification supports best. The member is
   * recorded under the key and has to be the same whenever that key comes up.
   */
  tolerate(code: AmbiguityCode, where: string, answer: Answer, members: readonly string[]): void {
    const member = members.find((candidate) => isMember(answer, candidate));
    if (member === undefined)
      throw new AssertionFailure('the answer is one of those the text supports', members, answer.outcome);
    this.#record(code, where, readOutcome(answer), member !== members[0]);
  }

  /** The same for something other than a status. */
  tolerateValue(code: AmbiguityCode, where: string, seen: string, members: readonly string[]): void {
    if (!members.includes(seen))
      throw new AssertionFailure('the value is one of those the text supports', members, seen);
    this.#record(code, where, seen, seen !== members[0]);
  }

  /** A token that has to be refused as invalid: 403 by the table of token failures, 401 by most endpoints' own. */
  expectTokenRefused(answer: Answer, where: string): void {
    this.tolerate('A01', `invalid token, ${where}`, answer, ['403 forbidden', '401 unauthorized']);
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  /** A name that nothing on the target has yet. */
  uniqueName(): string {
    return this.run.uniqueName();
  }

  /** Skips the rule unless the target may be written to. */
  needsWrite(): void {
    if (!this.target.write) throw new Skip('needs a repository made for it: --write');
  }

  /** Skips the rule unless failures can be caused on purpose. */
  needsEmulator(): void {
    if (this.target.adminUrl === undefined) throw new Skip(ONLY_ON_EMULATOR);
  }

  /** Skips the rule unless routes that only clients know may be tried. */
  needsCompanion(): void {
    if (!this.target.companion) {
      throw new Skip(
        'the specification names this operation without its route; --companion tries the route clients use',
      );
    }
  }

  /**
   * Looks again and again until there is a result: a service may show a write a little later. Gives up after 5
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

/** Why a rule of reach `emulator` is skipped elsewhere. */
export const ONLY_ON_EMULATOR = 'failures can be caused on purpose only on the emulator';

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

/** The repository that a request asks to make: its token names it. */
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
