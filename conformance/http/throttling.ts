import { parseList } from 'structured-headers';
import { type Exchange, headerOf, isRecord, jsonOf } from './exchange.js';
import { RunEnded } from './no-answer.js';

/** How much patience a run has with a target that throttles. */
export const PATIENCE = {
  /** Seconds that one answer may ask to wait, and that one request, or the run without any other answer, waits. */
  longest: 60,
  /** Seconds that the whole run waits. */
  total: 600,
  /** Seconds to wait where an answer says that it throttles, and not how long. */
  unsaid: 1,
  /** Rules in a row that were blocked, with no other answer between them, before the run ends. */
  blocked: 8,
} as const;

/** The target keeps answering 429, or asks to wait too long. */
export class Throttled extends Error {
  override readonly name = 'Throttled';
}

/** One pause for all lanes of a run: whoever meets a 429, all wait. */
export class Throttling {
  #until = 0;
  /** Milliseconds that the run was held up, in all and since the last answer that was no 429. */
  #held = 0;
  #inVain = 0;
  #blocked = 0;

  constructor(
    readonly now: () => number,
    readonly sleep: (milliseconds: number) => Promise<void>,
    readonly end: (reason: RunEnded) => void,
    /** Told that a pause began. */
    readonly onPause: () => void = () => undefined,
  ) {}

  /** Seconds from now until requests go out again, 0 where they do. */
  get left(): number {
    return Math.max(0, this.#until - this.now()) / 1000;
  }

  /** Seconds that the run was held up in all. */
  get heldSeconds(): number {
    return this.#held / 1000;
  }

  /** Resolves once no pause is left. */
  async pass(): Promise<void> {
    for (let until = 0; until !== this.#until; ) {
      until = this.#until;
      const wait = Math.ceil(until - this.now());
      if (wait > 0) await this.sleep(wait);
    }
  }

  /** Notes that an answer was no 429. */
  clear(): void {
    this.#inVain = 0;
    this.#blocked = 0;
  }

  /** Holds up the run. `waited`: seconds that this request waited before. Throws `Throttled` past what the run bears. */
  hold(seconds: number, waited: number): void {
    const until = this.now() + seconds * 1000;
    const more = Math.max(0, until - Math.max(this.now(), this.#until));
    const { longest, total } = PATIENCE;
    const asked = `throttled: the target asks to wait ${seconds} s`;
    if (seconds > longest) throw this.#giveUp(`${asked}, more than the ${longest} s that a run waits`);
    if (waited + seconds > longest || this.#inVain + more > longest * 1000) {
      throw this.#giveUp(
        `throttled: 429 again after ${Math.round(Math.max(waited, this.#inVain / 1000))} s of waiting`,
      );
    }
    if (this.#held + more > total * 1000) throw this.#giveUp(`${asked}, and the run has waited ${total} s in all`);
    this.#held += more;
    this.#inVain += more;
    this.#until = Math.max(this.#until, until);
    if (more > 0) this.onPause();
  }

  #giveUp(reason: string): Throttled {
    this.#blocked += 1;
    if (this.#blocked >= PATIENCE.blocked)
      this.end(new RunEnded('target', `the target answers nothing but 429: ${reason}`));
    return new Throttled(reason);
  }
}

/** Its route, as documented and as clients use it. */
const FILE_METADATA = /^\/api\/(v1\/repos|repos\/[^/?]+)\/files\/metadata(\?|$)/;

/**
 * How many seconds a 429 asks to wait: `Retry-After`, which takes precedence, or the window `t` of `RateLimit`.
 * Undefined where it is no throttling: file metadata has a 429 of its own, for which waiting never helps; it may be told
 * in the same words, but asks for no wait.
 */
export function secondsToWait(exchange: Exchange, now = Date.now()): number | undefined {
  if (exchange.status !== 429) return undefined;
  const said = secondsOf(exchange.headers['retry-after'], now) ?? windowOf(headerOf(exchange, 'ratelimit'));
  if (said !== undefined) return said;
  if (FILE_METADATA.test(exchange.path)) return undefined;
  const body = jsonOf(exchange);
  return isRecord(body) && body.code === 'rate_limited' ? PATIENCE.unsaid : undefined;
}

/** `Retry-After` as seconds (RFC 9110, 10.2.3: seconds or an HTTP date); undefined when it is neither. */
export function secondsOf(value: string | string[] | undefined, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** The longest window of a `RateLimit` field of which nothing is left at once. */
function windowOf(field: string | undefined): number | undefined {
  if (field === undefined) return undefined;
  try {
    const windows = parseList(field).flatMap(([, parameters]) => {
      const [r, t] = [parameters.get('r'), parameters.get('t')];
      return typeof t === 'number' && t >= 0 && (typeof r !== 'number' || r <= 0) ? [t] : [];
    });
    return windows.length === 0 ? undefined : Math.max(...windows);
  } catch {
    return undefined;
  }
}
