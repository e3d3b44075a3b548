import { parseList } from 'structured-headers';
import { type Exchange, headerOf, isRecord, jsonOf } from './exchange.js';
import { RunEnded } from './no-response.js';

/** Limits for waits caused by throttling (status 429). */
export const PATIENCE = {
  /**
   * Maximum wait in seconds. It limits each single wait, all waits of one request, and all waits of the run since the
   * last response other than 429.
   */
  longest: 60,
  /** Maximum seconds that the run waits in total. */
  total: 600,
  /** Seconds to wait if a 429 response does not say how long to wait. */
  unsaid: 1,
  /**
   * The run ends after this number of consecutive rules that throttling made impossible to check. A response other than
   * 429 resets the count.
   */
  blocked: 8,
} as const;

/** Thrown if the target keeps responding with 429, or asks to wait longer than `PATIENCE` permits. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}

/** Pause that all concurrent rules of a run share. A 429 for one request pauses all of them. */
export class Throttling {
  #until = 0;
  /** Milliseconds for which the run was paused: `#held` in total, `#inVain` since the last response other than 429. */
  #held = 0;
  #inVain = 0;
  #blocked = 0;

  constructor(
    readonly now: () => number,
    readonly sleep: (milliseconds: number) => Promise<void>,
    readonly end: (reason: RunEnded) => void,
    /** Called when a pause of the run begins. */
    readonly onPause: () => void = () => undefined,
  ) {}

  /** Seconds until requests may be sent again; 0 if the run is not paused. */
  get left(): number {
    return Math.max(0, this.#until - this.now()) / 1000;
  }

  /** Total seconds for which the run was paused. */
  get heldSeconds(): number {
    return this.#held / 1000;
  }

  /** Resolves once the run is not paused. Called before each request. */
  async pass(): Promise<void> {
    for (let until = 0; until !== this.#until; ) {
      until = this.#until;
      const wait = Math.ceil(until - this.now());
      if (wait > 0) await this.sleep(wait);
    }
  }

  /** Resets the limits for consecutive throttling. Called for every response other than 429. */
  clear(): void {
    this.#inVain = 0;
    this.#blocked = 0;
  }

  /**
   * Pauses the run for `seconds`. `waited`: seconds for which the throttled request has already waited. Throws
   * `Throttled` if a limit of `PATIENCE` is exceeded.
   */
  hold(seconds: number, waited: number): void {
    const until = this.now() + seconds * 1000;
    const more = Math.max(0, until - Math.max(this.now(), this.#until));
    const { longest, total } = PATIENCE;
    const asked = `throttled: the target asks to wait ${seconds} s`;
    if (seconds > longest) throw this.#giveUp(`${asked}, more than the maximum wait of ${longest} s`);
    if (waited + seconds > longest || this.#inVain + more > longest * 1000) {
      throw this.#giveUp(
        `throttled: 429 still returned after ${Math.round(Math.max(waited, this.#inVain / 1000))} s of waiting`,
      );
    }
    if (this.#held + more > total * 1000)
      throw this.#giveUp(`${asked}, but the run has already waited the maximum of ${total} s in total`);
    this.#held += more;
    this.#inVain += more;
    this.#until = Math.max(this.#until, until);
    if (more > 0) this.onPause();
  }

  #giveUp(reason: string): Throttled {
    this.#blocked += 1;
    if (this.#blocked >= PATIENCE.blocked)
      this.end(new RunEnded('target', `every response of the target is 429: ${reason}`));
    return new Throttled(reason);
  }
}

/**
 * Matches the request target of the file metadata operation: its documented route, and a route that only published
 * clients use.
 */
const FILE_METADATA = /^\/api\/(v1\/repos|repos\/[^/?]+)\/files\/metadata(\?|$)/;

/**
 * Returns the seconds to wait before retrying a request that received 429. They come from `Retry-After`, or else from
 * the window `t` of `RateLimit`. Returns undefined if the response does not throttle.
 *
 * File metadata also responds with 429 if the repository is too large. A retry never helps then. Such a response is
 * recognized by its missing wait headers, because its body may be worded like throttling.
 */
export function secondsToWait(exchange: Exchange, now = Date.now()): number | undefined {
  if (exchange.status !== 429) return undefined;
  const said = secondsOf(exchange.headers['retry-after'], now) ?? windowOf(headerOf(exchange, 'ratelimit'));
  if (said !== undefined) return said;
  if (FILE_METADATA.test(exchange.path)) return undefined;
  const body = jsonOf(exchange);
  return isRecord(body) && body.code === 'rate_limited' ? PATIENCE.unsaid : undefined;
}

/**
 * Converts a `Retry-After` value to seconds from now. The value is a number of seconds or an HTTP date (RFC 9110,
 * section 10.2.3). Returns undefined for any other value.
 */
export function secondsOf(value: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** Quota of the target: it accepts `remaining` requests in the next `seconds`. */
export interface Quota {
  readonly remaining: number;
  readonly seconds: number;
}

/**
 * Returns the quota that a response announces: the number of requests that the target accepts in the next seconds.
 * Returns undefined if absent. Sources, in order of precedence:
 * - `RateLimit`: `r` requests in `t` seconds.
 * - `RateLimit-Remaining` and `RateLimit-Reset`, the older headers.
 * - `RateLimit-Policy`: `q` requests in `w` seconds.
 *
 * If one source has several quotas, returns the one with the fewest requests per second.
 */
export function quotaOf(exchange: Exchange): Quota | undefined {
  const policies = parametersOf(headerOf(exchange, 'ratelimit-policy')).flatMap(quotaFrom('q', 'w'));
  const limits = parametersOf(headerOf(exchange, 'ratelimit')).flatMap(quotaFrom('r', 't'));
  const [remaining, reset] = ['remaining', 'reset'].map((name) => headerOf(exchange, `ratelimit-${name}`));
  const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,9}$/.test(text);
  const older =
    isNumber(remaining) && isNumber(reset) ? [{ remaining: Number(remaining), seconds: Number(reset) }] : [];
  const [quotas = []] = [limits, older, policies].filter(({ length }) => length > 0);
  const perSecond = (quota: Quota) => quota.remaining / Math.max(quota.seconds, 1);
  return [...quotas].sort((one, other) => perSecond(one) - perSecond(other))[0];
}

function quotaFrom(requests: string, window: string) {
  return (parameters: ReadonlyMap<string, unknown>): Quota[] => {
    const [remaining, seconds] = [parameters.get(requests), parameters.get(window)];
    return typeof remaining === 'number' && typeof seconds === 'number' ? [{ remaining, seconds }] : [];
  };
}

/**
 * Parses a list of structured fields, the format of `RateLimit`, and returns the parameters of each item. Returns an
 * empty list if the header is absent or invalid.
 */
function parametersOf(field: string | undefined): ReadonlyMap<string, unknown>[] {
  try {
    return field === undefined ? [] : parseList(field).map(([, parameters]) => parameters);
  } catch {
    return [];
  }
}

/**
 * Returns the seconds until all exhausted windows of a `RateLimit` header have ended. Returns undefined if no window is
 * exhausted.
 */
function windowOf(field: string | undefined): number | undefined {
  const windows = parametersOf(field).flatMap((parameters) => {
    const [r, t] = [parameters.get('r'), parameters.get('t')];
    return typeof t === 'number' && t >= 0 && (typeof r !== 'number' || r <= 0) ? [t] : [];
  });
  return windows.length === 0 ? undefined : Math.max(...windows);
}
