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

/**
 * Upstream of a repository: the repository on an external forge (hosting service) from which it was created. The two
 * are synchronized.
 */
export interface BaseRepository {
  readonly provider: string;
  readonly owner: string;
  readonly name: string;
  /** Host name of a self-hosted forge; undefined if the provider has a fixed host. */
  readonly host?: string | undefined;
  /**
   * Credential for reading the upstream. `app` is the credential of the organization's application, `public` means
   * none, and `credential` is the repository's Git credential.
   */
  readonly access: 'app' | 'public' | 'credential';
  /** Number of finished synchronizations, including failed ones. */
  readonly runs: number;
  /** Synchronization that finished last; undefined if none has finished. */
  readonly lastSync?: FinishedSync | undefined;
}

/** Finished synchronization of a repository with its upstream. Times are milliseconds on the emulator's clock. */
export interface FinishedSync {
  readonly startedAt: number;
  readonly completedAt: number;
  /** Reason why the synchronization failed, in one sentence; undefined if it succeeded. */
  readonly error?: string | undefined;
}

/** All data of a repository except its Git objects, as an immutable value. Each change replaces the record. */
export interface RepositoryRecord {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  /** Number of the repository in order of creation. Cursors of the repository list contain this number. */
  readonly sequence: number;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly createdAt: number;
  /** Real state of the repository. If a test has set another state (`override`), clients see that state instead. */
  readonly state: RepositoryState;
  /** State that a test has set. Clients see it instead of the real state. Undefined if none is set. */
  readonly override?: StateOverride | undefined;
  /**
   * Duration or end of the thaw (return from cold storage). The thaw begins with the first request to the archived
   * repository. Undefined if no thaw is planned or in progress.
   */
  readonly thaw?: StateTerm | undefined;
  readonly refs: Refs;
  /**
   * Number of objects in the object store when `refs` was set. Objects with higher numbers are newer. A snapshot
   * therefore restores the repository with this number and `refs`.
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
  /** Called when an LFS object was added to the repository, so that the world counts its memory. */
  hold(object: LfsObject): void;
  now(): number;
  /**
   * Throws if another world (state of an emulated service) has replaced the repository's world, for example by a
   * restore.
   */
  requireCurrent(): void;
  /** Called after refs of the repository have moved. */
  moved(record: RepositoryRecord, changes: readonly RefChange[]): void;
  /** Logs an error that occurred after a successful write, because no client sees it. */
  failed(record: RepositoryRecord, error: unknown): void;
}

/**
 * Members of a repository record that `update` can change. Refs can be changed only in transactions (`git.transact`).
 */
export type RecordChanges = Partial<
  Omit<RepositoryRecord, 'id' | 'organization' | 'name' | 'sequence' | 'refs' | 'watermark'>
>;

/** Access of operations to one repository: its record, Git objects and refs. */
export class Repository {
  readonly git: GitRepository;
  /**
   * Cached copy of the refs with a detached HEAD, for the simulated state `no_default_branch`. `shown` is the copy of
   * `refs`. The cache is valid only while the repository's refs are still `refs`.
   */
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

  /** State that clients see: the state that a test has set, otherwise the real state. */
  get state(): RepositoryState {
    const { override, thaw, state } = this.record;
    if (override === undefined && thaw === undefined) return state;
    const now = this.home.now();
    const pretended = overrideOf(this.record, now)?.state;
    if (pretended !== undefined && pretended !== 'no_default_branch') return pretended;
    return ownStateOf(this.record, now).state;
  }

  /** Real state of the repository, even if a test has set another state. */
  get ownState(): RepositoryState {
    return ownStateOf(this.record, this.home.now()).state;
  }

  /**
   * Throws if the repository's state refuses the operation. A refused request is counted, because a state can be set to
   * end after a number of requests.
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

  /**
   * Counts a request if the repository's state refuses it. Returns the term of the state (its end and `Retry-After`)
   * before the request. Undefined if the state was not set by a test and is not a thaw.
   */
  private termOf(isRefused: boolean, now: number): StateTerm | undefined {
    const { override } = this.record;
    const met = overrideOf(this.record, now);
    // In the state `no_default_branch`, every request is counted, because this state refuses none.
    const isCounted = isRefused || met?.state === 'no_default_branch';
    const left = met && isCounted ? leftOf(met, now) : met;
    if (left !== override) this.update({ override: left });
    return met ?? (isRefused && isCold(this.record) ? this.meetThaw(now) : undefined);
  }

  /**
   * Counts a request that was refused because the repository is in cold storage. The first such request begins the thaw
   * (return from cold storage). Returns the term of the thaw before the request.
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

  /**
   * Refs as clients see them. In the simulated state `no_default_branch`, HEAD is detached: it contains a commit id,
   * not a branch name.
   */
  private get shownRefs(): Refs {
    const { refs } = this.record;
    if (!this.isHeadless || refs.headOid === undefined) return refs;
    // The copy is cached until the refs change. Writers detect changes by comparing refs by object identity, so equal
    // refs must be the same object.
    if (this.detached?.refs !== refs) this.detached = { refs, shown: refs.withHead({ oid: refs.headOid }) };
    return this.detached.shown;
  }

  private withOwnHead(refs: Refs): Refs {
    return this.isHeadless ? refs.withHead(this.record.refs.head) : refs;
  }

  /** Replaces the repository's record by a copy with the changes. */
  update(changes: RecordChanges): void {
    this.home.replace({ ...this.record, ...changes });
  }

  /** Adds an uploaded LFS object. The caller must have taken its bytes from the memory budget. */
  addLfsObject(oid: string, object: LfsObject): void {
    this.home.hold(object);
    this.update({ lfsObjects: (this.record.lfsObjects ?? NO_LFS_OBJECTS).with(oid, object, true) });
  }

  /**
   * Throws if the repository was deleted or its world was replaced. Call it before a write, because both can happen
   * while a request is received or processed.
   */
  requireWritable(): void {
    this.home.requireCurrent();
    if (this.state === 'deleted') throw repositoryNotFound();
  }

  /**
   * Moves the repository into cold storage. Its data stays. The next request is refused and begins the thaw (return
   * from cold storage). `thaw` is the term of the thaw.
   */
  archive(thaw: StateTerm = {}): void {
    if (this.record.state === 'active' || isCold(this.record)) this.update({ state: 'archived', thaw });
  }

  /** Moves the repository out of cold storage at once. Has no effect in other states. */
  restore(): void {
    if (isCold(this.record)) this.update({ state: 'active', thaw: undefined });
  }

  /** Short name of the branch that HEAD points to, such as `main`; undefined if HEAD is detached. */
  get defaultBranch(): ByteString | undefined {
    if (this.isHeadless) return undefined;
    const { head } = this.record.refs;
    return 'symref' in head && head.symref.startsWith('refs/heads/')
      ? sliceBytes(head.symref, 'refs/heads/'.length)
      : undefined;
  }
}

/**
 * Credential for reading a repository's upstream (external repository with which it is synchronized). A repository has
 * at most one.
 */
export interface GitCredential {
  readonly id: string;
  readonly username?: string | undefined;
  /**
   * Password. It is sent only to the upstream (external repository), in the `Authorization` header. It is never shown
   * or logged.
   */
  readonly password: string;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly createdAt: number;
}
