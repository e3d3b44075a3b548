import type { Variants } from '../config/variants.js';
import { type ByteString, sliceBytes } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { Refs } from '../git/refs/refs.js';
import { GitRepository } from '../git/repository/repository.js';
import { secondsLeft } from '../time/expiry.js';
import type { RepositoryContent } from './content.js';
import type { Deployments, KeyedRequests } from './deployments.js';
import type { HostingProject } from './hosting.js';
import type { LfsLocks } from './lfs-locks.js';
import { type LfsObject, type LfsObjects, NO_LFS_OBJECTS } from './lfs-objects.js';
import { type Affecting, type RepositoryState, refusalOf, repositoryNotFound, stateProblem } from './lifecycle.js';
import {
  beginThaw,
  isCold,
  leftOf,
  overrideOf,
  ownStateOf,
  RETRY_AFTER,
  type StateOverride,
  type StateTerm,
} from './state-override.js';

/** Repository on an external forge from which this one was created, and with which it is synced. */
export interface BaseRepository {
  readonly provider: string;
  readonly owner: string;
  readonly name: string;
  /** Host of a self-hosted provider. */
  readonly host?: string | undefined;
  /** How it is read: with the organization's application, anonymously, or with the repository's Git credential. */
  readonly access: 'app' | 'public' | 'credential';
  /** Number of sync runs that have ended, successfully or not. */
  readonly runs: number;
}

/** All data of a repository except its Git objects, as an immutable value. A change replaces the record. */
export interface RepositoryRecord {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  /** Position in the order of creation. Cursors of the repository list contain it. */
  readonly sequence: number;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
  /** State of the repository itself. A simulated state (`override`) takes precedence. */
  readonly state: RepositoryState;
  /** State that a test has set for the repository; undefined if none is set. */
  readonly override?: StateOverride | undefined;
  /** Time that a repository in cold storage takes to become available. It starts with the first request after archiving. */
  readonly thaw?: StateTerm | undefined;
  readonly refs: Refs;
  /**
   * Number of objects in the store when `refs` was set. With this number and `refs`, a snapshot can restore the
   * repository.
   */
  readonly watermark: number;
  readonly baseRepo?: BaseRepository | undefined;
  readonly gitCredential?: GitCredential | undefined;
  readonly hosting?: HostingProject | undefined;
  readonly deployments?: Deployments | undefined;
  readonly deploymentKeys?: KeyedRequests | undefined;
  readonly lfsObjects?: LfsObjects | undefined;
  readonly lfsLocks?: LfsLocks | undefined;
}

export interface RepositoryHome {
  record(id: string): RepositoryRecord;
  replace(record: RepositoryRecord): void;
  /** Called when an LFS object was added. The world then counts its memory. */
  hold(object: LfsObject): void;
  now(): number;
  /** Throws if the world of the repository was replaced, for example by a restore. */
  requireCurrent(): void;
  /** Called after refs have moved. */
  moved(record: RepositoryRecord, changes: readonly RefChange[]): void;
  /** Called with an error that occurred after a successful write. */
  failed(record: RepositoryRecord, error: unknown): void;
}

/** Members of a record that can change. Refs change only in transactions (`git.transact`). */
export type RecordChanges = Partial<
  Omit<RepositoryRecord, 'id' | 'organization' | 'name' | 'sequence' | 'refs' | 'watermark'>
>;

/** One repository, as operations use it: its record and its Git objects and refs. */
export class Repository {
  readonly git: GitRepository;
  /** Refs with a detached HEAD, for the simulated state `no_default_branch`. Cached for the current refs. */
  private detached: { readonly refs: Refs; readonly shown: Refs } | undefined = undefined;

  constructor(
    readonly id: string,
    private readonly home: RepositoryHome,
    readonly content: RepositoryContent,
  ) {
    const { objects, history } = content;
    this.git = new GitRepository(objects, history, {
      read: () => this.shownRefs,
      swap: (refs: Refs) => home.replace({ ...this.record, refs: this.withOwnHead(refs), watermark: objects.size }),
      now: () => home.now(),
      requireWritable: () => this.requireWritable(),
      moved: (changes) => home.moved(this.record, changes),
      failed: (error) => home.failed(this.record, error),
    });
  }

  get record(): RepositoryRecord {
    return this.home.record(this.id);
  }

  get name(): string {
    return this.record.name;
  }

  /** State that clients see: the simulated state if one is set, otherwise the repository's own. */
  get state(): RepositoryState {
    const { override, thaw, state } = this.record;
    if (override === undefined && thaw === undefined) return state;
    const now = this.home.now();
    const pretended = overrideOf(this.record, now)?.state;
    if (pretended !== undefined && pretended !== 'no_default_branch') return pretended;
    return ownStateOf(this.record, now).state;
  }

  /** State of the repository itself, whatever state is simulated. */
  get ownState(): RepositoryState {
    return ownStateOf(this.record, this.home.now()).state;
  }

  /**
   * Throws if the state of the repository refuses the operation. If the state is set to end after a number of requests,
   * the refused request is counted.
   */
  meetState(operation: Affecting, variants: Variants): void {
    const { state } = this;
    if (state === 'active' && this.record.override === undefined) return;
    const now = this.home.now();
    const refusal = refusalOf(state, operation, variants);
    const term = this.termOf(refusal !== undefined, now);
    if (refusal === undefined) return;
    const left = term?.ends && secondsLeft(term.ends, now);
    throw stateProblem(state, refusal, term?.retryAfter ?? left ?? RETRY_AFTER);
  }

  /** Counts a request if the state refuses it. Returns how long the state still lasts. */
  private termOf(isRefused: boolean, now: number): StateTerm | undefined {
    const { override } = this.record;
    const met = overrideOf(this.record, now);
    // The state `no_default_branch` refuses no requests, so each request counts.
    const isCounted = isRefused || met?.state === 'no_default_branch';
    const left = met && isCounted ? leftOf(met, now) : met;
    if (left !== override) this.update({ override: left });
    return met ?? (isRefused && isCold(this.record) ? this.meetThaw(now) : undefined);
  }

  /**
   * Counts a request that was refused because the repository is in cold storage. The first such request starts its
   * return to normal operation (the thaw).
   */
  private meetThaw(now: number): StateTerm {
    const { state, thaw = {} } = this.record;
    const met = state === 'archived' ? beginThaw(thaw, now) : thaw;
    const left = leftOf(met, now);
    this.update({ state: left ? 'thawing' : 'active', thaw: left });
    return met;
  }

  private get isHeadless(): boolean {
    const { override } = this.record;
    return override !== undefined && overrideOf(this.record, this.home.now())?.state === 'no_default_branch';
  }

  /** Refs as clients see them. In the state `no_default_branch`, HEAD is detached: it contains a commit id. */
  private get shownRefs(): Refs {
    const { refs } = this.record;
    if (!this.isHeadless || refs.headOid === undefined) return refs;
    // The same object is returned while the refs do not change, because writers compare it by reference.
    if (this.detached?.refs !== refs) this.detached = { refs, shown: refs.withHead({ oid: refs.headOid }) };
    return this.detached.shown;
  }

  private withOwnHead(refs: Refs): Refs {
    return this.isHeadless ? refs.withHead(this.record.refs.head) : refs;
  }

  /** Replaces the record by one with the changes. */
  update(changes: RecordChanges): void {
    this.home.replace({ ...this.record, ...changes });
  }

  /** Adds a new LFS object whose bytes were taken from the budget. */
  addLfsObject(oid: string, object: LfsObject): void {
    this.home.hold(object);
    this.update({ lfsObjects: (this.record.lfsObjects ?? NO_LFS_OBJECTS).with(oid, object, true) });
  }

  /**
   * Throws if the repository was deleted or the world was replaced. Called before a write, because both can happen
   * while a request arrives or is processed.
   */
  requireWritable(): void {
    this.home.requireCurrent();
    if (this.state === 'deleted') throw repositoryNotFound();
  }

  /** Moves the repository into cold storage. Its data stays; the next request is refused and begins the thaw. */
  archive(thaw: StateTerm = {}): void {
    if (this.record.state === 'active' || isCold(this.record)) this.update({ state: 'archived', thaw });
  }

  /** Moves the repository out of cold storage immediately. */
  restore(): void {
    if (isCold(this.record)) this.update({ state: 'active', thaw: undefined });
  }

  /** Short name of the branch that HEAD points to; undefined if HEAD is detached. */
  get defaultBranch(): ByteString | undefined {
    if (this.isHeadless) return undefined;
    const { head } = this.record.refs;
    return 'symref' in head && head.symref.startsWith('refs/heads/')
      ? sliceBytes(head.symref, 'refs/heads/'.length)
      : undefined;
  }
}

/** Credential for the upstream. A repository has at most one. */
export interface GitCredential {
  readonly id: string;
  readonly username?: string | undefined;
  /** Sent only in the `Authorization` header to the upstream, and never shown or logged. */
  readonly password: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}
