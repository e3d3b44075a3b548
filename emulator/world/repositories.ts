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

/** What is known of all repositories apart from their objects: one immutable value, swapped in one step. */
export interface Records {
  /** By id. */
  readonly byId: SortedMap<string, RepositoryRecord>;
  /** Id by `organization NUL name`. */
  readonly names: SortedMap<string, string>;
  /** Id by organization and sequence, in order of creation. */
  readonly order: SortedMap<string, string>;
  readonly created: number;
}

/** Its contents and LFS objects are held: it has to be let go of. */
export interface RepositoriesSnapshot {
  readonly records: Records;
  /** By repository id. */
  readonly contents: ReadonlyMap<string, KeptContent>;
  /** Ids of the repositories that were being filled. */
  readonly syncing: readonly string[];
  readonly lfs: SharedLfsObjects | undefined;
}

/** Objects and refs that were made before their repository. */
export interface FilledContent {
  readonly content: RepositoryContent;
  readonly refs: Refs;
}

export interface RepositoryPorts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly requireCurrent: () => void;
  /** Told of refs that moved, after they did. */
  readonly moved: (record: RepositoryRecord, changes: readonly RefChange[]) => void;
  /** Told of a repository that is new. */
  readonly created: (record: RepositoryRecord) => void;
}

/** All repositories: their records, their objects, and the handles that operations use. */
export class Repositories implements StatePart<RepositoriesSnapshot> {
  private records = recordsOf([], 0);
  /** By id. What they hold beside the record is their content. */
  private handles = new Map<string, Repository>();
  /** Contents of repositories that were not asked for since the restore, and so have no handle yet. */
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

  /** Another value after every change of a record. */
  get revision(): object {
    return this.records;
  }

  /** The repository of that name, deleted or not; undefined when the name was never used. */
  find(organization: string, name: string): Repository | undefined {
    const id = this.records.names.get(nameKey(organization, name));
    return id === undefined ? undefined : this.handle(id);
  }

  /** Repositories of an organization in order of creation, after position `after`; deleted ones are left out. */
  *list(organization: string, after = 0): IterableIterator<Repository> {
    for (const repository of this.existing(organization, after)) if (repository.state !== 'deleted') yield repository;
  }

  /** As `list`, with those that only pretend to be deleted. */
  *existing(organization: string, after = 0): IterableIterator<Repository> {
    const prefix = `${organization}\0`;
    const { order } = this.records;
    for (const [key, id] of order.entries(orderKey(organization, after + 1))) {
      if (!key.startsWith(prefix)) return;
      yield this.handle(id);
    }
  }

  /** Every repository there ever was, deleted ones included. */
  *all(): IterableIterator<Repository> {
    for (const id of this.kept.keys()) yield this.handle(id);
    for (const [id, repository] of this.handles) if (!this.kept.has(id)) yield repository;
  }

  /**
   * Creates a repository; a deleted one of the same name gives way. Throws if the name is in use. With `filled` it has
   * that from its beginning: the content becomes the repository's.
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
    // One that pretends to be deleted gives way for good.
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
   * Marks the repository as deleted and lets go of its objects: their memory counts no more, and is free as
   * soon as the last running reader has ended. What a snapshot holds is held on.
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

  /** For a state that nothing was written to yet. */
  restore({ records, contents, syncing, lfs }: RepositoriesSnapshot): void {
    this.records = records;
    this.handles = new Map();
    this.kept = contents;
    for (const content of contents.values()) content.hold();
    this.lfs = new LfsHoldings(this.ports.engine.memory, holdLfsObjects(lfs));
    for (const id of syncing) this.endSync(this.handle(id));
  }

  /** Lets go of everything: another state has taken the place of this one. Readers under way end with what they have. */
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

  /** Lets go of LFS objects that no repository has: a snapshot had them that is let go of, or has them on. */
  dropUnheld(): void {
    const held = new Set<LfsObject>();
    for (const { lfsObjects } of this.records.byId.values())
      for (const each of lfsObjects?.values() ?? []) held.add(each);
    this.lfs.keepOnly(held);
  }

  /** What was filling the repository has ended with its world. */
  private endSync(repository: Repository): void {
    if (repository.record.baseRepo) repository.update({ state: 'active' });
    // A fork that is not complete never was.
    else this.delete(repository);
  }

  /** What is held of LFS objects by other repositories. */
  private *lfsObjectsBeside(record: RepositoryRecord): IterableIterator<LfsObjects> {
    for (const { id, lfsObjects } of this.records.byId.values()) if (lfsObjects && id !== record.id) yield lfsObjects;
  }

  private replace(record: RepositoryRecord): void {
    this.records = { ...this.records, byId: this.records.byId.with(record.id, record, true) };
  }

  /** The repository of that id, which has to be there. */
  private handle(id: string): Repository {
    const known = this.handles.get(id);
    if (known) return known;
    const kept = this.kept.get(id)!;
    const repository = this.adopt(id, this.ports.engine.forkContent(kept));
    // A reader that comes after the end holds nothing.
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

/** The records of repositories, deleted ones included, of which `created` were made in all. */
export function recordsOf(all: readonly RepositoryRecord[], created: number): Records {
  const none: Records = { byId: emptyMap(), names: emptyMap(), order: emptyMap(), created };
  return all.toSorted((one, other) => one.sequence - other.sequence).reduce(withRecord, none);
}

/** What is left of a repository that was deleted. */
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

/** Lets go of what a snapshot holds. */
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
