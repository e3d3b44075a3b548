import type { WireRequest } from '../http/client.js';
import { type Exchange, isRecord, jsonOf } from '../http/exchange.js';
import { AssertionFailure } from './outcomes.js';
import { lastingDifferences, lookAt, type Part, type Sight, type View } from './repository-view.js';
import { type Write, writeOf } from './write-request.js';

/** State of one repository, as last observed by the suite. */
class KnownRepository {
  /**
   * Number of writes to this repository that the suite has sent. A view is outdated if this number has changed since.
   */
  sent = 0;
  underWay = 0;
  view: View | undefined;
  /**
   * Value of `sent` when `view` was read; -1 if no view was read. A different `sent` means that the view is outdated.
   */
  viewedAt = -1;
  /** Branch and new tip that the last accepted write reported. Undefined if it reported none. */
  reported: { readonly ref: string; readonly sha: string } | undefined;
}

export interface WriteOptions {
  /**
   * True if the rule fails anyway when this request is refused. To save requests, the suite then does not read the
   * repository before it.
   */
  readonly mustSucceed?: boolean;
}

interface Sent {
  readonly exchange: Exchange;
  /** Failure to report if the target refused the write but the repository changed. Undefined otherwise. */
  readonly complaint?: AssertionFailure;
}

/**
 * Sends the requests of all rules and checks that refused writes change nothing. To check a refused write, it compares
 * the repository before and after the request.
 *
 * A view (observed refs and metadata of a repository) is reused until the next write, so consecutive refused writes
 * need only one new view each. Overlapping writes to one repository are not checked, because the change may come from
 * any of them.
 */
export class RefusedWrites {
  readonly #known = new Map<string, KnownRepository>();

  async send(run: Run, request: WireRequest, { mustSucceed = false }: WriteOptions = {}): Promise<Sent> {
    const write = run.target.write ? writeOf(request, run.target) : undefined;
    if (write === undefined) return { exchange: await run.client.send(request) };
    const attempts: Attempt[] = [];
    for (const repo of write.repositories) {
      const attempt = new Attempt(run, request, write, repo, this.#repository(run, repo));
      if (!mustSucceed) await attempt.look();
      attempts.push(attempt);
    }
    for (const attempt of attempts) attempt.begin();
    let exchange: Exchange;
    try {
      exchange = await run.client.send(request);
    } finally {
      for (const attempt of attempts) attempt.end();
    }
    for (const attempt of attempts) {
      const complaint = await attempt.check(exchange);
      if (complaint !== undefined) return { exchange, complaint };
    }
    return { exchange };
  }

  #repository({ target }: Run, repo: string): KnownRepository {
    const key = `${target.baseUrl} ${repo}`;
    const known = this.#known.get(key) ?? new KnownRepository();
    this.#known.set(key, known);
    return known;
  }
}

interface Run extends Sight {
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Maximum number of views taken until an accepted write becomes visible. The pauses between them are 20 ms, 40 ms and
 * so on, 620 ms in total. If the write is still not visible, this check is given up, because the delayed write would
 * look like a change.
 */
const LOOKS_FOR_REPORTED = 6;

/**
 * Check of one write on one of the repositories that it may change. A write that may change several repositories has
 * one attempt for each.
 */
class Attempt {
  #before: View | undefined;
  #turn = 0;

  constructor(
    readonly run: Run,
    readonly request: WireRequest,
    readonly write: Write,
    readonly repo: string,
    readonly known: KnownRepository,
  ) {}

  /**
   * Reads the state of the repository before the write, to compare it later. Reuses the last view if no write has been
   * sent since then.
   */
  async look(): Promise<void> {
    const { known, write } = this;
    if (known.underWay > 0) return;
    if (known.view !== undefined && known.viewedAt === known.sent && covers(known.view, write.parts)) {
      this.#before = known.view;
      return;
    }
    this.#before = await this.#view(known.sent);
    for (let wait = 20, looks = 1; this.#before !== undefined && !this.#showsReported(); wait *= 2, looks++) {
      // Wait until the last accepted write is visible, because Git may show an API write only after a delay. Otherwise
      // the earlier write would look like a change made by the new one.
      if (looks === LOOKS_FOR_REPORTED) {
        this.#before = undefined;
        known.reported = undefined;
      } else {
        await this.run.sleep(wait);
        this.#before = await this.#view(known.sent);
      }
    }
  }

  begin(): void {
    const { known } = this;
    // Discard the view if another write is pending, or if one began while the view was read. A change could then come
    // from that other write.
    if (known.underWay > 0 || known.viewedAt !== known.sent) this.#before = undefined;
    known.underWay += 1;
    known.sent += 1;
    this.#turn = known.sent;
  }

  end(): void {
    this.known.underWay -= 1;
  }

  async check(exchange: Exchange): Promise<AssertionFailure | undefined> {
    const accepted = this.write.acceptedBy(exchange);
    if (accepted === true) {
      this.known.reported = this.write.parts.some((part) => part.startsWith('ephemeral'))
        ? undefined
        : reportOf(exchange);
      return undefined;
    }
    const before = this.#before;
    if (before === undefined || this.known.underWay > 0) return undefined;
    const look = () => this.#view(this.#turn);
    const changed = await lastingDifferences(before, look, ({ name }) => !accepted.includes(name));
    if (changed === undefined || changed.length === 0) return undefined;
    const { method, path } = this.request;
    return new AssertionFailure(
      `${method} ${path} was refused with ${exchange.status}, so ${this.repo} must not change`,
      Object.fromEntries(changed.map(({ name, before }) => [name, before])),
      Object.fromEntries(changed.map(({ name, after }) => [name, after])),
    );
  }

  /**
   * Reads the parts of the repository that the write may change. Returns undefined if another write began meanwhile or
   * is still pending. `sent`: number of writes sent when the view was requested.
   */
  async #view(sent: number): Promise<View | undefined> {
    const { known } = this;
    const view = await lookAt(this.run, this.request.rule, this.repo, this.write.parts);
    if (known.sent !== sent || known.underWay > 0) return undefined;
    known.view = view;
    known.viewedAt = sent;
    return view;
  }

  #showsReported(): boolean {
    const { reported } = this.known;
    const refs = this.#before?.get('refs');
    return reported === undefined || refs === undefined || refs.get(reported.ref) === reported.sha;
  }
}

function covers(view: View, parts: readonly Part[]): boolean {
  return parts.every((part) => view.has(part));
}

function reportOf(exchange: Exchange): KnownRepository['reported'] {
  const body = jsonOf(exchange);
  const result = isRecord(body) && isRecord(body.result) ? body.result : {};
  const { branch, new_sha: sha } = result;
  if (typeof branch !== 'string' || typeof sha !== 'string') return undefined;
  return { ref: branch.startsWith('refs/') ? branch : `refs/heads/${branch}`, sha };
}
