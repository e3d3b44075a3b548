import { FsckError, type FsckPolicy } from '../git/fsck/fsck.js';
import { bytesIn, textOf } from '../git/object/bytes.js';
import { MissingObject } from '../git/object/object.js';
import { ObjectTooLarge, PackError } from '../git/pack/pack-error.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { Outbound } from '../http/outbound.js';
import { type Log, stackOf } from '../log/log.js';
import { StoreFull } from '../memory/memory-budget.js';
import type { BaseRepository, FinishedSync, Repository } from '../repositories/repository.js';
import type { Clock } from '../time/clock.js';
import type { SyncReport } from '../webhooks/events.js';
import { openUpstream, type Remote, UpstreamError } from './fetch-client.js';
import { mirror } from './mirror.js';
import { upstreamUrl } from './provider.js';

/**
 * Maximum number of attempts of one sync. A sync is repeated if the upstream does not respond, or responds with a
 * server error.
 */
const ATTEMPTS = 3;

export interface SyncPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Outbound;
  /**
   * Origins that replace those of providers (such as `github`), by name. A user name and password in an origin are used
   * if the sync has no other credential.
   */
  readonly origins: Readonly<Record<string, string>>;
  /** Milliseconds of real time without any data after which an upstream counts as unreachable. */
  readonly timeout: number;
  readonly fsck: FsckPolicy;
  /**
   * Returns the failure that a test has configured for all upstreams of the organization; undefined if absent.
   */
  readonly failureOf: (
    organization: string,
  ) => { readonly message: string; readonly status?: number | undefined } | undefined;
  /** Maximum number of bytes of the pack that a sync receives. */
  readonly maxPackBytes: number;
  /** Called at the start and after the end of each sync. The callback sends events to webhooks. */
  readonly report: (report: SyncReport) => void;
}

export interface SyncRequest {
  /**
   * Returns true if a ref update is permitted. `isForced` is true if the update loses commits. If this function is
   * absent, all updates are permitted.
   */
  readonly mayMove?: (change: RefChange, isForced: boolean) => boolean;
}

/**
 * Error with which a canceled sync ends. A sync is canceled if the process stops, or if the repository now has another
 * upstream or none.
 */
class Canceled extends Error {
  override readonly name = 'Canceled';
}

interface Run {
  readonly repository: Repository;
  readonly base: BaseRepository;
  readonly request: SyncRequest;
  readonly controller: AbortController;
  readonly startedAt: number;
}

/**
 * Runner of syncs, each of which makes a repository equal to its upstream (repository on another host). A repository
 * has at most one running sync.
 */
export class Syncs {
  readonly #running = new Map<Run, Promise<void>>();
  #isClosed = false;

  constructor(private readonly ports: SyncPorts) {}

  /** Checks that the upstream of a repository is readable. Throws `UpstreamError` if it is not. */
  async probe(organization: string, base: BaseRepository, signal: AbortSignal): Promise<void> {
    this.#requireReachable(organization);
    await openUpstream(this.#remoteOf(base, undefined, signal));
  }

  /**
   * Starts a sync in the background, for a repository that has an upstream and no running sync. The repository has the
   * state `syncing` until the sync ends.
   */
  start(repository: Repository, request: SyncRequest = {}): void {
    const base = repository.record.baseRepo;
    if (!base || this.#isClosed) return;
    repository.update({ state: 'syncing' });
    const run = { repository, base, request, controller: new AbortController(), startedAt: this.ports.clock.now() };
    this.#report(run, 'started', base.runs);
    this.#running.set(run, this.#perform(run));
  }

  /**
   * Returns the start of the running sync of a repository, in milliseconds on the emulator's clock. Returns undefined
   * if no sync is running.
   */
  runningSince(repository: Repository): number | undefined {
    for (const { repository: each, startedAt } of this.#running.keys()) if (each.id === repository.id) return startedAt;
    return undefined;
  }

  /** Resolves when all running syncs have ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Cancels the sync of a repository, if one is running. Sends no event to webhooks. */
  cancel(repository: Repository): void {
    for (const run of this.#running.keys()) {
      if (run.repository.id !== repository.id) continue;
      run.controller.abort(new Canceled('the service canceled the sync'));
      repository.update({ state: 'active' });
    }
  }

  /** Cancels all syncs and resolves when they have ended. Sends no events to webhooks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { controller } of this.#running.keys()) controller.abort(new Canceled('the emulator is shutting down'));
    await this.idle();
  }

  async #perform(run: Run): Promise<void> {
    const { repository, base } = run;
    // The sync begins in the next turn of the event loop, so that the response to the request that started it is sent
    // first.
    await new Promise((resolve) => setImmediate(resolve));
    let error: string | undefined;
    try {
      await this.#mirror(run);
    } catch (reason) {
      if (run.controller.signal.aborted || reason instanceof Canceled) {
        this.#running.delete(run);
        if (repository.record.state === 'syncing') repository.update({ state: 'active' });
        return;
      }
      error = this.#describe(run, reason);
    }
    this.#running.delete(run);
    const runs = base.runs + 1;
    const lastSync = {
      startedAt: run.startedAt,
      completedAt: this.ports.clock.now(),
      ...(error !== undefined && { error }),
    };
    if (repository.record.state === 'syncing')
      repository.update({ state: 'active', baseRepo: { ...base, runs, lastSync } });
    this.#report(run, error === undefined ? 'succeeded' : 'failed', runs, lastSync);
  }

  async #mirror(run: Run): Promise<void> {
    const { repository, base, request, controller } = run;
    const requireWanted = () => {
      const { state, baseRepo } = repository.record;
      if (state !== 'syncing' || baseRepo !== base)
        throw new Canceled('the repository no longer syncs with this upstream');
    };
    for (let attempt = 1; ; attempt++) {
      try {
        this.#requireReachable(repository.record.organization);
        const remote = this.#remoteOf(base, repository, controller.signal);
        const { fsck, maxPackBytes } = this.ports;
        return await mirror(repository.git, remote, { requireWanted, mayMove: request.mayMove, fsck, maxPackBytes });
      } catch (error) {
        if (!(error instanceof UpstreamError && error.isTransient) || attempt === ATTEMPTS) throw error;
        controller.signal.throwIfAborted();
      }
    }
  }

  /** Throws the failure that a test has configured for all upstreams of the organization, if there is one. */
  #requireReachable(organization: string): void {
    const failure = this.ports.failureOf(organization);
    if (failure) throw new UpstreamError(failure.message, failure.status);
  }

  #remoteOf(base: BaseRepository, repository: Repository | undefined, signal: AbortSignal): Remote {
    const { origins, outbound, timeout } = this.ports;
    const url = upstreamUrl(base, origins);
    const credential = base.access === 'credential' ? repository?.record.gitCredential : undefined;
    const username = credential ? (credential.username ?? 'git') : decodeURIComponent(url.username);
    const password = credential?.password ?? decodeURIComponent(url.password);
    url.username = '';
    url.password = '';
    const authorization =
      password === '' ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    return { url, authorization, outbound, signal, timeout };
  }

  #report(run: Run, outcome: SyncReport['outcome'], runCount: number, finished?: FinishedSync): void {
    const { log, report } = this.ports;
    const error = finished?.error;
    const { record } = run.repository;
    log.write({ event: 'sync', outcome, repository: record.name, ...(error !== undefined && { error }) });
    report({
      outcome,
      repository: record,
      runCount,
      isFirst: run.base.runs === 0,
      startedAt: run.startedAt,
      ...(finished && { completedAt: finished.completedAt }),
      ...(error !== undefined && { error }),
    });
  }

  /**
   * Returns the reason why a sync failed, as a text that events may contain. Unexpected errors are also written to the
   * log.
   */
  #describe(run: Run, error: unknown): string {
    if (error instanceof UpstreamError) return error.message;
    if (error instanceof FsckError)
      return `The upstream sent an invalid object: ${textOf(bytesIn(Buffer.from(error.message, 'latin1')))}`;
    if (error instanceof PackError || error instanceof MissingObject)
      return `The upstream sent an invalid pack: ${error.message}.`;
    if (error instanceof StoreFull || error instanceof ObjectTooLarge)
      return `The repository does not fit into memory: ${error.message}.`;
    const { name: repository } = run.repository;
    this.ports.log.write({ event: 'internal_error', operation: 'sync', repository, stack: stackOf(error) });
    return 'The sync failed because of an internal error, which is in the log of the emulator.';
  }
}
