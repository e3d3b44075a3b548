import { bytesOf } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import { Refs } from '../git/refs/refs.js';
import type { Ids } from '../ids/ids.js';
import { stackOf } from '../log/log.js';
import type { MemoryBudget } from '../memory/memory-budget.js';
import type { KeptContent, RepositoryContent } from '../repositories/content.js';
import {
  heldAlone,
  holdLfsObjects,
  LfsHoldings,
  type LfsObject,
  type LfsObjects,
  releaseLfsObjects,
  type SharedLfsObjects,
} from '../repositories/lfs-objects.js';
import { Repository, type RepositoryHome, type RepositoryRecord } from '../repositories/repository.js';
import { emptyMap, type SortedMap } from '../repositories/sorted-records.js';
import type { Clock } from '../time/clock.js';
import type { Engine } from './engine.js';
import type { StatePart } from './state-part.js';

/**
 * Records (data without Git objects) of all repositories, as one immutable value. A change replaces all indexes at
 * once.
 */
export interface Records {
  /** Records by repository id. */
  readonly byId: SortedMap<string, RepositoryRecord>;
  /** Repository ids. The key is the organization's name, a NUL character, and the repository's name. */
  readonly names: SortedMap<string, string>;
  /** Ids of repositories that are not deleted, by organization and sequence number (order of creation). */
  readonly order: SortedMap<string, string>;
  readonly created: number;
}

/**
 * Repositories in a snapshot. The snapshot references their contents and LFS objects. It must be released to free this
 * memory.
 */
export interface RepositoriesSnapshot {
  readonly records: Records;
  /** Git objects of each repository, by repository id. */
  readonly contents: ReadonlyMap<string, KeptContent>;
  /** Ids of the repositories whose initial content was still being fetched or copied at the time of the snapshot. */
  readonly syncing: readonly string[];
  readonly lfs: SharedLfsObjects | undefined;
}

/**
 * Git objects and refs of a new repository. They are created first, so that the repository is never visible without
 * them.
 */
export interface FilledContent {
  readonly content: RepositoryContent;
  readonly refs: Refs;
}

export interface RepositoryPorts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly requireCurrent: () => void;
  /** Called after refs of a repository have moved. */
  readonly moved: (record: RepositoryRecord, changes: readonly RefChange[]) => void;
  /** Called after a repository was created. */
  readonly created: (record: RepositoryRecord) => void;
}

/**
 * All repositories of a world (state of an emulated service): their records, Git objects and handles. Operations access
 * a repository through its handle.
 */
export class Repositories implements StatePart<RepositoriesSnapshot> {
  private records = recordsOf([], 0);
  /**
   * Handles by repository id. Operations access a repository through its handle. The handle references the repository's
   * Git objects.
   */
  private handles = new Map<string, Repository>();
  /**
   * Contents of the repositories in the restored snapshot, by repository id. To keep a restore fast, a repository's
   * handle is created only at the first access.
   */
  private kept: ReadonlyMap<string, KeptContent> = new Map();
  private lfs: LfsHoldings;
  private isReleased = false;
  private readonly home: RepositoryHome;

  constructor(private readonly ports: RepositoryPorts) {
    const { clock, engine, moved, requireCurrent } = ports;
    this.lfs = new LfsHoldings(engine.memory);
    this.home = {
      hold: (object) => this.lfs.add(object),
      record: (id) => this.records.byId.get(id)!,
      replace: (record) => this.replace(record),
      now: () => clock.now(),
      requireCurrent,
      moved,
      failed: (record, error) => {
        const { name: repository } = record;
        engine.log.write({ event: 'internal_error', operation: 'after-write', repository, stack: stackOf(error) });
      },
    };
  }

  /** Object that changes its identity with every change of a record. Callers compare it to detect changes. */
  get revision(): object {
    return this.records;
  }

  /**
   * Returns the repository with this name, even if it is deleted. Returns undefined if no repository ever had the name.
   */
  find(organization: string, name: string): Repository | undefined {
    const id = this.records.names.get(nameKey(organization, name));
    return id === undefined ? undefined : this.handle(id);
  }

  /**
   * Yields the repositories of an organization in order of creation, after the sequence number `after`. Omits deleted
   * repositories.
   */
  *list(organization: string, after = 0): IterableIterator<Repository> {
    for (const repository of this.existing(organization, after)) if (repository.state !== 'deleted') yield repository;
  }

  /** Same as `list`, but includes repositories that only pretend to be deleted, because a test has set that state. */
  *existing(organization: string, after = 0): IterableIterator<Repository> {
    const prefix = `${organization}\0`;
    const { order } = this.records;
    for (const [key, id] of order.entries(orderKey(organization, after + 1))) {
      if (!key.startsWith(prefix)) return;
      yield this.handle(id);
    }
  }

  /** Yields all repositories of all organizations, including deleted ones. */
  *all(): IterableIterator<Repository> {
    for (const id of this.kept.keys()) yield this.handle(id);
    for (const [id, repository] of this.handles) if (!this.kept.has(id)) yield repository;
  }

  /**
   * Creates a repository, which may replace a deleted repository of the same name. Throws if the name is in use. With
   * `filled`, the repository starts with these objects and refs, and must release them later.
   */
  create(
    organization: string,
    name: string,
    options: { defaultBranch: string } & Partial<Pick<RepositoryRecord, 'baseRepo' | 'hosting'>>,
    filled?: FilledContent,
  ): Repository {
    this.ports.requireCurrent();
    const previous = this.find(organization, name);
    if (previous && previous.state !== 'deleted') throw new Error(`${name} is in use.`);
    // A repository may only pretend to be deleted (a state that a test has set). Clients may create a repository with
    // its name, so it must now really be deleted.
    if (previous && previous.record.state !== 'deleted') this.delete(previous);
    const { defaultBranch, ...rest } = options;
    const { records } = this;
    const sequence = records.created + 1;
    const record: RepositoryRecord = {
      id: this.ports.ids.uuid('repository'),
      organization,
      name,
      sequence,
      createdAt: this.ports.clock.now(),
      state: 'active',
      refs: filled?.refs ?? Refs.empty(bytesOf(defaultBranch)),
      watermark: filled?.content.objects.size ?? 0,
      ...rest,
    };
    this.records = withRecord(records, record);
    const repository = this.adopt(record.id, filled?.content ?? this.ports.engine.createContent());
    this.ports.created(record);
    return repository;
  }

  /**
   * Marks the repository as deleted and releases its objects. The memory budget no longer counts them. Their memory is
   * freed when the last running reader ends. Snapshots that contain the objects keep them.
   */
  delete(repository: Repository): void {
    const { engine, requireCurrent } = this.ports;
    requireCurrent();
    const { record, content } = repository;
    const lfsObjects = record.lfsObjects ? heldAlone(record.lfsObjects, this.lfsObjectsBeside(record)) : [];
    engine.gitService.forget(repository.git);
    this.replace(deletedRecord(record));
    this.records = {
      ...this.records,
      order: this.records.order.without(orderKey(record.organization, record.sequence)),
    };
    this.adopt(record.id, engine.createContent());
    content.release();
    this.lfs.remove(lfsObjects);
    if (record.lfsObjects && this.lfs.isShared) this.dropUnheld();
  }

  snapshot(): RepositoriesSnapshot {
    const contents = new Map<string, KeptContent>();
    for (const [id, content] of this.kept) if (!this.handles.has(id)) contents.set(id, content.hold());
    for (const [id, { content }] of this.handles) contents.set(id, content.keep());
    const syncing = [...contents.keys()].filter((id) => this.records.byId.get(id)!.state === 'syncing');
    return { records: this.records, contents, syncing, lfs: this.lfs.share() };
  }

  /** Restores a snapshot. Call it only on a new instance to which nothing has been written. */
  restore({ records, contents, syncing, lfs }: RepositoriesSnapshot): void {
    this.records = records;
    this.handles = new Map();
    this.kept = contents;
    for (const content of contents.values()) content.hold();
    this.lfs = new LfsHoldings(this.ports.engine.memory, holdLfsObjects(lfs));
    for (const id of syncing) this.endSync(this.handle(id));
  }

  /**
   * Releases all contents and LFS objects, because another world (state of an emulated service) has replaced this
   * world. Running readers keep their data.
   */
  release(): void {
    const { gitService } = this.ports.engine;
    this.isReleased = true;
    for (const [id, content] of this.kept) if (!this.handles.has(id)) content.release();
    for (const { git, content } of this.handles.values()) {
      gitService.forget(git);
      content.release();
    }
    this.lfs.release();
  }

  /**
   * Releases LFS objects that no repository of the world (state of an emulated service) contains any more. Called after
   * a snapshot was removed, because only that snapshot may still have referenced them.
   */
  dropUnheld(): void {
    const held = new Set<LfsObject>();
    for (const { lfsObjects } of this.records.byId.values())
      for (const each of lfsObjects?.values() ?? []) held.add(each);
    this.lfs.keepOnly(held);
  }

  /**
   * Ends the state `syncing` of a repository after a restore. The work that filled the repository ended with the
   * previous world (state of an emulated service).
   */
  private endSync(repository: Repository): void {
    if (repository.record.baseRepo) repository.update({ state: 'active' });
    // An incomplete fork is deleted, because nothing would copy its remaining objects.
    else this.delete(repository);
  }

  /** Yields the LFS objects of each repository except the repository of `record`. */
  private *lfsObjectsBeside(record: RepositoryRecord): IterableIterator<LfsObjects> {
    for (const { id, lfsObjects } of this.records.byId.values()) if (lfsObjects && id !== record.id) yield lfsObjects;
  }

  private replace(record: RepositoryRecord): void {
    this.records = { ...this.records, byId: this.records.byId.with(record.id, record, true) };
  }

  /**
   * Returns the handle for a repository id. Operations access the repository through it. It is created at the first
   * access. The repository must exist.
   */
  private handle(id: string): Repository {
    const known = this.handles.get(id);
    if (known) return known;
    const kept = this.kept.get(id)!;
    const repository = this.adopt(id, this.ports.engine.forkContent(kept));
    // A reader may access a repository after the world (state of an emulated service) was released. The new content is
    // then released at once, because nothing would release it later.
    if (this.isReleased) repository.content.release();
    else kept.release();
    return repository;
  }

  private adopt(id: string, content: RepositoryContent): Repository {
    const repository = new Repository(id, this.home, content);
    this.handles.set(id, repository);
    return repository;
  }
}

/**
 * Returns the indexes for the records `all`, which include deleted repositories. `created` is the number of
 * repositories created so far, including deleted ones.
 */
export function recordsOf(all: readonly RepositoryRecord[], created: number): Records {
  const none: Records = { byId: emptyMap(), names: emptyMap(), order: emptyMap(), created };
  return all.toSorted((one, other) => one.sequence - other.sequence).reduce(withRecord, none);
}

/** Returns the record that remains of a deleted repository: its identity without refs and settings. */
export function deletedRecord(record: Omit<RepositoryRecord, 'state' | 'refs' | 'watermark'>): RepositoryRecord {
  const { id, organization, name, sequence, createdAt } = record;
  const refs = Refs.empty(bytesOf('main'));
  return { id, organization, name, sequence, createdAt, state: 'deleted', refs, watermark: 0 };
}

function withRecord(records: Records, record: RepositoryRecord): Records {
  const { id, organization, name, sequence, state } = record;
  return {
    created: Math.max(records.created, sequence),
    byId: records.byId.with(id, record, true),
    names: records.names.with(nameKey(organization, name), id, true),
    order: state === 'deleted' ? records.order : records.order.with(orderKey(organization, sequence), id, true),
  };
}

/** Releases the Git contents and LFS objects that a snapshot references. */
export function releaseRepositories({ contents, lfs }: RepositoriesSnapshot, memory: MemoryBudget): void {
  for (const content of contents.values()) content.release();
  releaseLfsObjects(lfs, memory);
}

function nameKey(organization: string, name: string): string {
  return `${organization}\0${name}`;
}

function orderKey(organization: string, sequence: number): string {
  return `${organization}\0${String(sequence).padStart(12, '0')}`;
}
