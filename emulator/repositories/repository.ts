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
 * Upstream of a repository: the repository on an external forge from which it was created, and with which it is
 * synchronized.
 */
export interface BaseRepository {
  readonly provider: string;
  readonly owner: string;
  readonly name: string;
  /** Host name of a self-hosted forge; undefined if the provider has a fixed host. */
  readonly host?: string | undefined;
  /**
   * Credential with which the upstream is read: that of the organization's application, none (`public`), or the
   * repository's Git credential.
   */
  readonly access: 'app' | 'public' | 'credential';
  /** Number of synchronizations that have ended, successfully or not. */
  readonly runs: number;
}

/** All data of a repository except its Git objects, as an immutable value. A change replaces the record. */
export interface RepositoryRecord {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  /** Number of the repository in the order of creation. Cursors of the repository list contain it. */
  readonly sequence: number;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly createdAt: number;
  /** Real state of the repository. If a test has set a state (`override`), clients see that one instead. */
  readonly state: RepositoryState;
  /** State that a test has set, which replaces the real state of the repository; undefined if none is set. */
  readonly override?: StateOverride | undefined;
  /**
   * Duration or end of the return from cold storage, which begins with the first request after the repository was
   * archived; undefined if the repository is not returning.
   */
  readonly thaw?: StateTerm | undefined;
  readonly refs: Refs;
  /**
   * Number of objects in the object store when `refs` was set. Objects with higher numbers did not exist then, so this
   * number and `refs` suffice to restore the repository from a snapshot.
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
  /** Called when an LFS object was added to the repository. The world then counts its memory. */
  hold(object: LfsObject): void;
  now(): number;
  /** Throws if another world (state of the emulator) has replaced that of the repository, for example by a restore. */
  requireCurrent(): void;
  /** Called with the changes after refs of the repository have moved. */
  moved(record: RepositoryRecord, changes: readonly RefChange[]): void;
  /**
   * Called with an error that occurred after a successful write. The client does not see such an error, so it is
   * logged.
   */
  failed(record: RepositoryRecord, error: unknown): void;
}

/** Members of a repository record that `update` can change. Refs change only in transactions (`git.transact`). */
export type RecordChanges = Partial<
  Omit<RepositoryRecord, 'id' | 'organization' | 'name' | 'sequence' | 'refs' | 'watermark'>
>;

/** Handle with which operations access one repository: its record, its Git objects and its refs. */
export class Repository {
  readonly git: GitRepository;
  /**
   * Copy of the refs with a detached HEAD, for the simulated state `no_default_branch`. `refs` is the value from which
   * the copy `shown` was made, so the cache is valid only while the refs do not change.
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

  /** Real state of the repository, regardless of a state that a test has set. */
  get ownState(): RepositoryState {
    return ownStateOf(this.record, this.home.now()).state;
  }

  /**
   * Throws if the state of the repository refuses the operation. If the state ends after a number of requests, a
   * refused request is counted.
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
   * Counts a request if the state of the repository refuses it. Returns the term (end and `Retry-After`) that this
   * state had before the request; undefined if neither a state that a test has set nor a thaw applies.
   */
  private termOf(isRefused: boolean, now: number): StateTerm | undefined {
    const { override } = this.record;
    const met = overrideOf(this.record, now);
    // The state `no_default_branch` refuses no requests, so each request in it is counted.
    const isCounted = isRefused || met?.state === 'no_default_branch';
    const left = met && isCounted ? leftOf(met, now) : met;
    if (left !== override) this.update({ override: left });
    return met ?? (isRefused && isCold(this.record) ? this.meetThaw(now) : undefined);
  }

  /**
   * Counts a request that was refused because the repository is in cold storage, and returns the term of its thaw. The
   * first such request begins the thaw (return from cold storage).
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
   * Refs as clients see them. In the simulated state `no_default_branch`, HEAD contains a commit id instead of the name
   * of a branch.
   */
  private get shownRefs(): Refs {
    const { refs } = this.record;
    if (!this.isHeadless || refs.headOid === undefined) return refs;
    // The copy is cached while the refs do not change, because writers compare refs by object identity to detect
    // changes.
    if (this.detached?.refs !== refs) this.detached = { refs, shown: refs.withHead({ oid: refs.headOid }) };
    return this.detached.shown;
  }

  private withOwnHead(refs: Refs): Refs {
    return this.isHeadless ? refs.withHead(this.record.refs.head) : refs;
  }

  /** Replaces the record of the repository by a copy with the changes. */
  update(changes: RecordChanges): void {
    this.home.replace({ ...this.record, ...changes });
  }

  /** Adds an uploaded LFS object. The caller has already taken its bytes from the memory budget. */
  addLfsObject(oid: string, object: LfsObject): void {
    this.home.hold(object);
    this.update({ lfsObjects: (this.record.lfsObjects ?? NO_LFS_OBJECTS).with(oid, object, true) });
  }

  /**
   * Throws if the repository was deleted or its world was replaced. Called before a write, because both can happen
   * while a request is received or processed.
   */
  requireWritable(): void {
    this.home.requireCurrent();
    if (this.state === 'deleted') throw repositoryNotFound();
  }

  /**
   * Moves the repository into cold storage. Its data stays. The next request is refused and begins the thaw, whose term
   * is `thaw`.
   */
  archive(thaw: StateTerm = {}): void {
    if (this.record.state === 'active' || isCold(this.record)) this.update({ state: 'archived', thaw });
  }

  /** Moves the repository out of cold storage immediately. Has no effect in other states. */
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
 * Credential with which the repository's upstream (external repository with which one is synchronized) is read. A
 * repository has at most one.
 */
export interface GitCredential {
  readonly id: string;
  readonly username?: string | undefined;
  /**
   * Password. It is sent only in the `Authorization` header to the upstream (external repository with which one is
   * synchronized), and never shown or logged.
   */
  readonly password: string;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly createdAt: number;
}
