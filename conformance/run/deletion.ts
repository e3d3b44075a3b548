import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner, type Signer } from '../auth/tokens.js';
import { Client } from '../http/client.js';
import { type Exchange, isRecord, jsonOf } from '../http/exchange.js';
import { Latency } from '../http/latency.js';
import type { Limiter } from '../http/limiter.js';
import { Stopwatch } from '../http/stopwatch.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';

export interface DeletionOptions {
  readonly limiter: Limiter;
  /** Maximum time to wait for one response, in milliseconds. */
  readonly timeout: number;
  /** Maximum number of concurrent connections to the target. */
  readonly width: number;
  /** Latency of the target. On a slow target, the time limit for all requests is longer. */
  readonly latency?: Latency;
  /** Ends all requests when aborted. */
  readonly interruption?: AbortSignal;
  /** Called before each request, including retries. */
  readonly onRequest?: () => void;
}

/**
 * Maximum working time in milliseconds for all requests of one `Deletion`, on a target with low latency. Waits for the
 * rate limit do not count.
 */
const LONGEST = 60_000;
/** Maximum number of attempts to delete one repository. Only a busy repository (status 409 or 503) is tried again. */
const TRIES = 4;
/** Milliseconds between two lookups of a deleted repository, and between two attempts to delete a busy repository. */
const PAUSE = 250;
/** Maximum number of lookups of a deleted repository. The deletion failed if the last lookup still finds it. */
const LOOKS = 20;

/** Error codes that say that the repository does not exist. */
const MISSING: ReadonlySet<unknown> = new Set(['repository_not_found', 'repository_deleted']);

/**
 * Client that creates, deletes and looks up repositories on the target, before the rules run and for cleanup. Uses only
 * the documented interface: the scope `repo:write`, routes such as `/api/repos/{repo_name}`, and the lookup `GET
 * /api/v1/repo`.
 */
export class Deletion {
  readonly #abort = new AbortController();
  readonly #client: Client;
  readonly #signer: Signer;
  readonly #stopwatch = new Stopwatch();

  constructor(
    readonly target: Target,
    { limiter, timeout, width, latency = new Latency(), interruption, onRequest }: DeletionOptions,
  ) {
    const { signal } = this.#abort;
    if (interruption?.aborted) this.#abort.abort(interruption.reason);
    interruption?.addEventListener('abort', () => this.#abort.abort(interruption.reason), { signal });
    this.#signer = createSigner(target, Date.now);
    this.#client = new Client({
      limiter,
      timeout,
      connections: width,
      signal,
      sleep: (milliseconds) => sleep(milliseconds, undefined, { signal }),
      onExchange: () => undefined,
      ...defined({ onRequest }),
      baseUrl: target.baseUrl,
    });
    const longest = latency.scale(LONGEST);
    const reason = `not done after ${Math.round(longest / 1000)} s`;
    this.#stopwatch.limit(longest, () => this.#abort.abort(new Error(reason)));
  }

  /** True after the time limit has passed or the deletion was interrupted. All later requests fail. */
  get isOver(): boolean {
    return this.#abort.signal.aborted;
  }

  async close(): Promise<void> {
    this.#stopwatch.stop();
    await this.#client.close();
  }

  create(name: string): Promise<Exchange> {
    return this.#send('POST', '/api/repos', name, 'repo:write');
  }

  /**
   * Deletes a repository. Returns undefined if it is gone, otherwise the reason why it still exists. Throws if no
   * response arrives.
   */
  async remove(name: string): Promise<string | undefined> {
    for (let left = TRIES; ; left--) {
      const response = await this.#delete(name);
      if (isSuccess(response) || isGone(response, await this.#look(name))) return undefined;
      const isBusy = response.status === 409 || response.status === 503;
      if (!isBusy || left === 1) return sentenceOf(response);
      await this.#pause();
    }
  }

  /**
   * Checks that the target supports deletion. It deletes a repository that does not exist, so nothing changes on the
   * target. Returns the reason why the target cannot delete; undefined if it can.
   *
   * If the deletion and a lookup get the same status other than 404, the status says nothing about deletion. Then also
   * returns undefined.
   */
  async lackOf(name: string): Promise<string | undefined> {
    const response = await this.#delete(name);
    if (isSuccess(response)) return undefined;
    const look = await this.#look(name);
    const isLikeOthers = response.status === look.status && response.status !== 404;
    return isLikeOthers || isGone(response, look) ? undefined : sentenceOf(response);
  }

  /**
   * Looks up a deleted repository until it is gone, because a deletion may take effect with a delay. Returns false if
   * it still exists after 5 seconds.
   */
  async isGone(name: string): Promise<boolean> {
    for (let left = LOOKS; left > 0; left--) {
      if (!shows(await this.#look(name), name)) return true;
      await this.#pause();
    }
    return false;
  }

  #delete(name: string): Promise<Exchange> {
    return this.#send('DELETE', `/api/repos/${encodeURIComponent(name)}`, name, 'repo:write');
  }

  #look(name: string): Promise<Exchange> {
    return this.#send('GET', '/api/v1/repo', name, 'git:read');
  }

  #send(method: string, path: string, repo: string, scope: string): Promise<Exchange> {
    const authorization = `Bearer ${this.#signer.sign({ repo, scopes: [scope] })}`;
    const request = { rule: 'cleanup', method, origin: this.target.baseUrl, path, headers: { authorization } };
    return this.#client.send(request, this.#stopwatch);
  }

  #pause(): Promise<void> {
    return sleep(PAUSE, undefined, { signal: this.#abort.signal });
  }
}

function isSuccess({ status }: Exchange): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns true if the target refused a deletion because the repository does not exist. Returns false if the repository
 * exists, or if the target has no route for deletion.
 *
 * - `response`: response to the deletion.
 * - `look`: response to a lookup of the same repository.
 */
function isGone(response: Exchange, look: Exchange): boolean {
  if (![404, 409, 410].includes(response.status) || isSuccess(look)) return false;
  if (MISSING.has(codeOf(response)) || response.status === 410) return true;
  // A 404 without a known code can mean that the repository or the route does not exist. If the lookup gets the same
  // code, the repository does not exist.
  return response.status === 404 && !MISSING.has(codeOf(look)) && codeOf(response) === codeOf(look);
}

function shows(look: Exchange, name: string): boolean {
  const record = jsonOf(look);
  return isSuccess(look) && isRecord(record) && record.url === name;
}

function codeOf(exchange: Exchange): unknown {
  const body = jsonOf(exchange);
  return isRecord(body) ? body.code : undefined;
}

function sentenceOf({ method, status }: Exchange): string {
  return `${method} /api/repos/{repo_name} returned ${status}`;
}
