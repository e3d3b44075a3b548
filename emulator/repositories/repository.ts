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

/** The external repository that a repository was created from and is kept in sync with. */
export interface BaseRepository {
  readonly provider: string;
  readonly owner: string;
  readonly name: string;
  /** Where it is, for providers that people host themselves. */
  readonly host?: string | undefined;
  /** As whom it is read: the organization's application, anonymously, or with the repository's Git credential. */
  readonly access: 'app' | 'public' | 'credential';
  /** Sync runs that have ended, well or not. */
  readonly runs: number;
}

/** Everything a repository is, apart from its objects: an immutable value that the world keeps. */
export interface RepositoryRecord {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  /** Position in the order of creation; cursors of the repository list are made of it. */
  readonly sequence: number;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
  /** What it is; `override` may hide it. */
  readonly state: RepositoryState;
  /** What it was told to pretend. */
  readonly override?: StateOverride | undefined;
  /** Term of the thaw of a repository in cold storage. It begins with the first refused request. */
  readonly thaw?: StateTerm | undefined;
  readonly refs: Refs;
  /** Objects stored when `refs` was set: with `refs`, all a snapshot needs to know of the object store. */
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
  /** Told of an LFS object that came; what it takes of the budget is the world's from now on. */
  hold(object: LfsObject): void;
  now(): number;
  /** Throws when another world has taken the place of the repository's. */
  requireCurrent(): void;
  /** Told of refs that moved, after they did. */
  moved(record: RepositoryRecord, changes: readonly RefChange[]): void;
  /** Told of what went wrong after a write had succeeded. */
  failed(record: RepositoryRecord, error: unknown): void;
}

/** What may change of a record; refs move in transactions only (`git.transact`). */
export type RecordChanges = Partial<
  Omit<RepositoryRecord, 'id' | 'organization' | 'name' | 'sequence' | 'refs' | 'watermark'>
>;

/** The handle of one repository: its record, which the world keeps, and its Git side. */
export class Repository {
  readonly git: GitRepository;
  /** Refs as they are shown without a default branch. */
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

  /** The state that requests meet: what it pretends to be, else what it is. */
  get state(): RepositoryState {
    const { override, thaw, state } = this.record;
    if (override === undefined && thaw === undefined) return state;
    const now = this.home.now();
    const pretended = overrideOf(this.record, now)?.state;
    if (pretended !== undefined && pretended !== 'no_default_branch') return pretended;
    return ownStateOf(this.record, now).state;
  }

  /** The state of the repository itself, whatever it pretends. */
  get ownState(): RepositoryState {
    return ownStateOf(this.record, this.home.now()).state;
  }

  /**
   * Throws the problem with which the state of the repository, pretended or its own, refuses the operation. A state that
   * ends after a number of requests counts the requests that it refuses.
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

  /** Notes that a request met the state, and counts it if it is refused. Returns the term of the state that it met. */
  private termOf(isRefused: boolean, now: number): StateTerm | undefined {
    const { override } = this.record;
    const met = overrideOf(this.record, now);
    // A detached HEAD refuses nothing: every request counts.
    const isCounted = isRefused || met?.state === 'no_default_branch';
    const left = met && isCounted ? leftOf(met, now) : met;
    if (left !== override) this.update({ override: left });
    return met ?? (isRefused && isCold(this.record) ? this.meetThaw(now) : undefined);
  }

  /** Counts a request that cold storage refuses; the first one begins the thaw. */
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

  /** Without a default branch HEAD is detached: it names the commit and no branch. */
  private get shownRefs(): Refs {
    const { refs } = this.record;
    if (!this.isHeadless || refs.headOid === undefined) return refs;
    // One value for as long as nothing moves: writers compare it.
    if (this.detached?.refs !== refs) this.detached = { refs, shown: refs.withHead({ oid: refs.headOid }) };
    return this.detached.shown;
  }

  private withOwnHead(refs: Refs): Refs {
    return this.isHeadless ? refs.withHead(this.record.refs.head) : refs;
  }

  /** Swaps the record for one with `changes` in it. */
  update(changes: RecordChanges): void {
    this.home.replace({ ...this.record, ...changes });
  }

  /** Adds an LFS object that has come, which was counted as held. */
  addLfsObject(oid: string, object: LfsObject): void {
    this.home.hold(object);
    this.update({ lfsObjects: (this.record.lfsObjects ?? NO_LFS_OBJECTS).with(oid, object, true) });
  }

  /**
   * A repository can be deleted, or the world put back, while a request arrives or is worked on: what was checked before
   * is checked again.
   */
  requireWritable(): void {
    this.home.requireCurrent();
    if (this.state === 'deleted') throw repositoryNotFound();
  }

  /** Puts it into cold storage. Nothing is lost; the next request is refused and begins the thaw. */
  archive(thaw: StateTerm = {}): void {
    if (this.record.state === 'active' || isCold(this.record)) this.update({ state: 'archived', thaw });
  }

  /** Brings it back from cold storage at once. */
  restore(): void {
    if (isCold(this.record)) this.update({ state: 'active', thaw: undefined });
  }

  /** The short name of the branch HEAD points at; undefined when HEAD is detached. */
  get defaultBranch(): ByteString | undefined {
    if (this.isHeadless) return undefined;
    const { head } = this.record.refs;
    return 'symref' in head && head.symref.startsWith('refs/heads/')
      ? sliceBytes(head.symref, 'refs/heads/'.length)
      : undefined;
  }
}

/** What an upstream asks for. A repository has at most one. */
export interface GitCredential {
  readonly id: string;
  readonly username?: string | undefined;
  /** Leaves the process in an `Authorization` header to the upstream, and in no other way. */
  readonly password: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}
