import { parseList } from 'structured-headers';
import { type Exchange, headerOf, isRecord, jsonOf } from './exchange.js';
import { RunEnded } from './no-response.js';

/** Limits for waiting on a target that throttles requests (status 429). */
export const PATIENCE = {
  /**
   * Maximum seconds of one wait, of all waits of one request, and of all waits of the run without any other response
   * between them.
   */
  longest: 60,
  /** Maximum seconds that the whole run waits. */
  total: 600,
  /** Seconds to wait if a 429 response does not say how long. */
  unsaid: 1,
  /**
   * Number of consecutive rules that could not be checked because of throttling, without any response other than 429
   * between them, after which the run ends.
   */
  blocked: 8,
} as const;

/** Thrown if the target keeps responding with 429, or asks to wait longer than `PATIENCE` permits. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}

/** Pause shared by all concurrent rules of a run: a 429 for one request pauses all of them. */
export class Throttling {
  #until = 0;
  /** Milliseconds that the run was paused: `#held` in total, `#inVain` since the last response other than 429. */
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

  /** Total seconds that the run was paused. */
  get heldSeconds(): number {
    return this.#held / 1000;
  }

  /** Resolves as soon as the run is not paused. Called before each request. */
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
   * Pauses the run for `seconds`. `waited`: seconds that the throttled request has already waited. Throws `Throttled`
   * if a limit of `PATIENCE` is exceeded.
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
 * Pattern of the request target of the file metadata operation, with its documented route and the route that only
 * published clients use.
 */
const FILE_METADATA = /^\/api\/(v1\/repos|repos\/[^/?]+)\/files\/metadata(\?|$)/;

/**
 * Returns the seconds to wait before a request that received 429 is retried. They come from `Retry-After`, which takes
 * precedence, or from the window `t` of `RateLimit`. Returns undefined if the response does not throttle. File metadata
 * responds with 429 to large repositories too. A retry never helps there, and no header of that response asks to wait,
 * although its body may be worded like throttling.
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
 * Converts the value of `Retry-After` to seconds from now. The value is a number of seconds or an HTTP date (RFC 9110,
 * section 10.2.3); undefined if it is neither.
 */
export function secondsOf(value: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** Number of requests that the target accepts in the next seconds. */
export interface Quota {
  readonly remaining: number;
  readonly seconds: number;
}

/**
 * Returns the quota (number of requests that the target accepts in the next seconds) that a response announces. It
 * comes from `RateLimit` (`r` requests in `t` seconds), from the older headers `RateLimit-Remaining` and
 * `RateLimit-Reset`, or else from `RateLimit-Policy` (`q` requests in `w` seconds). If there are several quotas,
 * returns the one with the fewest requests per second. Returns undefined if the response announces no quota.
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
 * Parses a header that is a list of structured fields, the format of `RateLimit`, and returns the parameters of each
 * item. Empty if the header is absent or invalid.
 */
function parametersOf(field: string | undefined): ReadonlyMap<string, unknown>[] {
  try {
    return field === undefined ? [] : parseList(field).map(([, parameters]) => parameters);
  } catch {
    return [];
  }
}

/**
 * Returns the seconds until the last exhausted window of a `RateLimit` header ends; undefined if no window is
 * exhausted.
 */
function windowOf(field: string | undefined): number | undefined {
  const windows = parametersOf(field).flatMap((parameters) => {
    const [r, t] = [parameters.get('r'), parameters.get('t')];
    return typeof t === 'number' && t >= 0 && (typeof r !== 'number' || r <= 0) ? [t] : [];
  });
  return windows.length === 0 ? undefined : Math.max(...windows);
}
