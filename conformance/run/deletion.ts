import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner, type Signer } from '../auth/tokens.js';
import { Client } from '../http/client.js';
import { type Exchange, isRecord, jsonOf } from '../http/exchange.js';
import type { Limiter } from '../http/limiter.js';
import { Stopwatch } from '../http/stopwatch.js';
import type { Target } from '../target/target.js';

export interface DeletionOptions {
  readonly limiter: Limiter;
  /** Milliseconds for one response. */
  readonly timeout: number;
  /** Number of concurrent requests. */
  readonly width: number;
}

/** Maximum time of all requests in milliseconds, excluding waits for the rate limit. */
const LONGEST = 60_000;
/** Number of attempts to delete a repository that is busy. */
const TRIES = 4;
/** Milliseconds between two lookups of a repository, or two attempts to delete it. */
const PAUSE = 250;
/** Number of lookups after which a deleted repository must be gone. */
const LOOKS = 20;

/** Codes of a repository that does not exist. */
const MISSING: ReadonlySet<unknown> = new Set(['repository_not_found', 'repository_deleted']);

/**
 * Creates, deletes and looks up repositories. It uses the documented scope (`repo:write`), the documented form of
 * repository routes (`/api/repos/{repo_name}`), and the documented lookup (`GET /api/v1/repo`).
 */
export class Deletion {
  readonly #abort = new AbortController();
  readonly #client: Client;
  readonly #signer: Signer;
  readonly #stopwatch = new Stopwatch();

  constructor(
    readonly target: Target,
    { limiter, timeout, width }: DeletionOptions,
  ) {
    const { signal } = this.#abort;
    this.#signer = createSigner(target, Date.now);
    this.#client = new Client({
      limiter,
      timeout,
      connections: width,
      signal,
      sleep: (milliseconds) => sleep(milliseconds, undefined, { signal }),
      onExchange: () => undefined,
      baseUrl: target.baseUrl,
    });
    this.#stopwatch.limit(LONGEST, () => this.#abort.abort(new Error(`not done after ${LONGEST / 1000} s`)));
  }

  /** True once the time limit has passed. Requests then fail. */
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
   * Deletes a repository. Returns the reason if it still exists; undefined if it is gone. Throws if no response
   * arrives.
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
   * Checks that the target can delete, with a repository that does not exist. Returns the reason if it cannot;
   * undefined if it can, or if it responds in the same way to all requests. Nothing is created.
   */
  async lackOf(name: string): Promise<string | undefined> {
    const response = await this.#delete(name);
    if (isSuccess(response)) return undefined;
    const look = await this.#look(name);
    const isLikeOthers = response.status === look.status && response.status !== 404;
    return isLikeOthers || isGone(response, look) ? undefined : sentenceOf(response);
  }

  /** Waits until a deleted repository is gone. Returns false if it is still there after 5 seconds. */
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
 * Returns true if the response to a deletion means that the repository is absent; false if it means that the route is
 * absent.
 */
function isGone(response: Exchange, look: Exchange): boolean {
  if (![404, 409, 410].includes(response.status) || isSuccess(look)) return false;
  if (MISSING.has(codeOf(response)) || response.status === 410) return true;
  // Without codes, the two cases cannot be distinguished.
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
