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

/** Records of all repositories, as one immutable value that is replaced in one step. */
export interface Records {
  /** Records by id. */
  readonly byId: SortedMap<string, RepositoryRecord>;
  /** Ids by organization NUL name. */
  readonly names: SortedMap<string, string>;
  /** Ids by organization and sequence, in order of creation. */
  readonly order: SortedMap<string, string>;
  readonly created: number;
}

/** Repositories in a snapshot. It holds their contents and LFS objects, so it must be released. */
export interface RepositoriesSnapshot {
  readonly records: Records;
  /** Contents by repository id. */
  readonly contents: ReadonlyMap<string, KeptContent>;
  /** Ids of the repositories that were being filled. */
  readonly syncing: readonly string[];
  readonly lfs: SharedLfsObjects | undefined;
}

/** Objects and refs that were created before their repository. */
export interface FilledContent {
  readonly content: RepositoryContent;
  readonly refs: Refs;
}

export interface RepositoryPorts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly requireCurrent: () => void;
  /** Called after refs have moved. */
  readonly moved: (record: RepositoryRecord, changes: readonly RefChange[]) => void;
  /** Called with the record of a new repository. */
  readonly created: (record: RepositoryRecord) => void;
}

/** All repositories: their records, their objects, and the handles that operations use. */
export class Repositories implements StatePart<RepositoriesSnapshot> {
  private records = recordsOf([], 0);
  /** Handles by id. They hold the contents. */
  private handles = new Map<string, Repository>();
  /** Contents of repositories that have no handle yet, because they were not accessed since the restore. */
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

  /** Value whose identity changes with every change of a record. */
  get revision(): object {
    return this.records;
  }

  /** Returns the repository of that name, deleted or not; undefined if the name was never used. */
  find(organization: string, name: string): Repository | undefined {
    const id = this.records.names.get(nameKey(organization, name));
    return id === undefined ? undefined : this.handle(id);
  }

  /** Yields the repositories of an organization in order of creation, after position `after`, without deleted ones. */
  *list(organization: string, after = 0): IterableIterator<Repository> {
    for (const repository of this.existing(organization, after)) if (repository.state !== 'deleted') yield repository;
  }

  /** Same as `list`, including repositories that only simulate being deleted. */
  *existing(organization: string, after = 0): IterableIterator<Repository> {
    const prefix = `${organization}\0`;
    const { order } = this.records;
    for (const [key, id] of order.entries(orderKey(organization, after + 1))) {
      if (!key.startsWith(prefix)) return;
      yield this.handle(id);
    }
  }

  /** Yields all repositories, including deleted ones. */
  *all(): IterableIterator<Repository> {
    for (const id of this.kept.keys()) yield this.handle(id);
    for (const [id, repository] of this.handles) if (!this.kept.has(id)) yield repository;
  }

  /**
   * Creates a repository and replaces a deleted one of the same name. Throws if the name is in use. With `filled`, the
   * repository starts with that content and owns it.
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
    // A repository that simulates being deleted is now deleted.
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
   * Marks the repository as deleted and releases its objects. Their memory no longer counts, and is freed when the last
   * running reader ends. Snapshots keep their objects.
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

  /** Restores a snapshot into a state that nothing was written to. */
  restore({ records, contents, syncing, lfs }: RepositoriesSnapshot): void {
    this.records = records;
    this.handles = new Map();
    this.kept = contents;
    for (const content of contents.values()) content.hold();
    this.lfs = new LfsHoldings(this.ports.engine.memory, holdLfsObjects(lfs));
    for (const id of syncing) this.endSync(this.handle(id));
  }

  /** Releases everything, because another state has replaced this one. Running readers keep their data. */
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

  /** Releases LFS objects that no repository contains any more. A snapshot that was removed may have held them. */
  dropUnheld(): void {
    const held = new Set<LfsObject>();
    for (const { lfsObjects } of this.records.byId.values())
      for (const each of lfsObjects?.values() ?? []) held.add(each);
    this.lfs.keepOnly(held);
  }

  /** Ends the state of a repository that was being filled when its world ended. */
  private endSync(repository: Repository): void {
    if (repository.record.baseRepo) repository.update({ state: 'active' });
    // An incomplete fork is removed.
    else this.delete(repository);
  }

  /** Yields the LFS objects of all other repositories. */
  private *lfsObjectsBeside(record: RepositoryRecord): IterableIterator<LfsObjects> {
    for (const { id, lfsObjects } of this.records.byId.values()) if (lfsObjects && id !== record.id) yield lfsObjects;
  }

  private replace(record: RepositoryRecord): void {
    this.records = { ...this.records, byId: this.records.byId.with(record.id, record, true) };
  }

  /** Returns the repository with the id, which must exist. */
  private handle(id: string): Repository {
    const known = this.handles.get(id);
    if (known) return known;
    const kept = this.kept.get(id)!;
    const repository = this.adopt(id, this.ports.engine.forkContent(kept));
    // A reader that starts after the end holds no content.
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

/** Returns records of repositories, including deleted ones. `created` is the number of repositories ever created. */
export function recordsOf(all: readonly RepositoryRecord[], created: number): Records {
  const none: Records = { byId: emptyMap(), names: emptyMap(), order: emptyMap(), created };
  return all.toSorted((one, other) => one.sequence - other.sequence).reduce(withRecord, none);
}

/** Returns the record of a deleted repository. */
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

/** Releases the contents and LFS objects of a snapshot. */
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
