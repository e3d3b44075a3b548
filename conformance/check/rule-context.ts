import type { SigningKey } from '../auth/keys.js';
import type { KeyRole, Signer, TokenRecipe } from '../auth/tokens.js';
import type { World } from '../fixtures/repositories.js';
import type { Client } from '../http/client.js';
import { Answer, type Exchange } from '../http/exchange.js';
import type { Rule } from '../rules/rule.js';
import type { Target } from '../target.js';
import { isMember, NotHere, Unmet } from './expect.js';
import type { VariantLedger } from './variants.js';

/** What a rule asks of the target. */
export interface Ask {
  /** Makes the bearer token. Undefined: the request carries no credential. */
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
  /** Whether the failure may leave this operation alone. Default: a fault that does not fire is not there. */
  readonly mayPass?: boolean;
  /** Another origin than the API's. */
  readonly origin?: string;
  readonly git?: boolean;
  /** How the token inside a credential of another scheme was made: for the report. */
  readonly recipe?: TokenRecipe | undefined;
}

export interface Services {
  readonly target: Target;
  readonly client: Client;
  readonly signer: Signer;
  readonly variants: VariantLedger;
  readonly world: World;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** One judging of one rule: everything it sends, sees and notes down. */
export class Trial {
  readonly exchanges: Exchange[] = [];
  /** What the rule saw where the specification leaves the answer open. */
  readonly observations: Record<string, unknown> = {};
  /** Members other than the first of a tolerated set. */
  readonly departures: string[] = [];
  /** Smaller promises that were not kept. */
  readonly warnings: string[] = [];

  constructor(
    readonly rule: Pick<Rule, 'id' | 'group' | 'writes'>,
    readonly services: Services,
  ) {}

  get target(): Target {
    return this.services.target;
  }

  get world(): World {
    return this.services.world;
  }

  get(path: string, ask: Ask = {}): Promise<Answer> {
    return this.request('GET', path, ask);
  }

  post(path: string, ask: Ask = {}): Promise<Answer> {
    return this.request('POST', path, ask);
  }

  async request(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const { client, target } = this.services;
    const token = ask.as === undefined ? undefined : await this.token(ask.as);
    const recipe = ask.as ?? ask.recipe;
    const body = bodyOf(ask);
    const type = ask.contentType ?? typeOf(ask);
    const exchange = await client.send({
      rule: this.rule.id,
      method,
      origin: ask.origin ?? target.baseUrl,
      path: path + queryOf(ask.query),
      headers: {
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(ask.fault === undefined ? {} : { 'x-emulator-fault': ask.fault }),
        ...ask.headers,
      },
      forced: ask.fault !== undefined,
      git: ask.git ?? false,
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
      ...(recipe === undefined ? {} : { recipe }),
      wantsThrottling: ask.fault !== undefined,
    });
    this.exchanges.push(exchange);
    const answer = new Answer(exchange);
    if (ask.fault !== undefined && ask.mayPass !== true && answer.header('x-emulator-fault-fired') === undefined) {
      throw new NotHere(`the target has no fault ${ask.fault}`);
    }
    return answer;
  }

  /** Signs a recipe. Skips the rule when the key it asks for was not given. */
  token(recipe: TokenRecipe): Promise<string> {
    this.key(recipe.key ?? 'main');
    return this.services.signer.sign(recipe);
  }

  key(role: KeyRole): SigningKey {
    const key = this.services.signer.key(role);
    if (key === undefined) throw new NotHere(MISSING_KEY[role]);
    return key;
  }

  /** Notes what the target does where it is free to do anything. */
  observe(name: string, value: unknown): void {
    this.observations[name] = value;
  }

  /**
   * Accepts any member of a closed set, the first being the reading the specification supports best. The member is
   * recorded under the key and has to be the same whenever that key comes up.
   */
  tolerate(decision: string, where: string, answer: Answer, members: readonly string[]): void {
    const member = members.find((candidate) => isMember(answer, candidate));
    if (member === undefined) throw new Unmet('the answer is one of those the text supports', members, answer.outcome);
    this.#record(decision, where, answer.outcome, member !== members[0]);
  }

  /** The same for something other than a status. */
  choose(decision: string, where: string, seen: string, members: readonly string[]): void {
    if (!members.includes(seen)) throw new Unmet('the value is one of those the text supports', members, seen);
    this.#record(decision, where, seen, seen !== members[0]);
  }

  /** A token that has to be refused as invalid: 403 by the table of token failures, 401 by most endpoints' own. */
  refusesToken(answer: Answer, where: string): void {
    this.tolerate('A01', `invalid token, ${where}`, answer, ['403 forbidden', '401 unauthorized']);
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  /** Skips the rule unless failures can be caused on purpose. */
  needsEmulator(): void {
    if (this.target.adminUrl === undefined) throw new NotHere('failures can be caused on purpose only on the emulator');
  }

  /** Skips the rule unless routes that only clients know may be tried. */
  needsCompanion(): void {
    if (!this.target.companion) {
      throw new NotHere(
        'the specification names this operation without its route; --companion tries the route clients use',
      );
    }
  }

  /** Repeats a probe until it succeeds: a service may show a write a little later. Gives up after 5 seconds. */
  async eventually(probe: () => Promise<boolean>, what: string): Promise<void> {
    const started = this.services.now();
    for (let wait = 20; ; wait = Math.min(wait * 2, 500)) {
      if (await probe()) break;
      if (this.services.now() - started > 5000) throw new Unmet(`${what}, within five seconds`, true, false);
      await this.services.sleep(wait);
    }
    const delay = this.services.now() - started;
    if (delay > 100) this.observe('delay_ms', delay);
  }

  #record(decision: string, where: string, seen: string, departs: boolean): void {
    const key = `${decision} ${where}`;
    this.services.variants.record(key, seen, this.rule.id);
    if (departs) this.departures.push(`${key}: ${seen}`);
  }
}

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

function bodyOf(ask: Ask): Buffer | undefined {
  if (ask.body !== undefined) return Buffer.from(ask.body as string);
  if (ask.json !== undefined) return Buffer.from(JSON.stringify(ask.json));
  if (ask.lines !== undefined) return Buffer.from(writeLines(ask.lines));
  return undefined;
}

function typeOf(ask: Ask): string | undefined {
  if (ask.lines !== undefined) return 'application/x-ndjson';
  return ask.json !== undefined || ask.body !== undefined ? 'application/json' : undefined;
}

function writeLines(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

function queryOf(query: Ask['query']): string {
  if (query === undefined) return '';
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map(
      (one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`,
    ),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
