import sortedBTree from 'sorted-btree';
import type { Clock } from '../environment/clock.js';
import type { Ids } from '../environment/ids.js';
import { bytesOf } from '../git/object/bytes.js';
import type { StoreMark } from '../git/odb/object-store.js';
import type { RefChange } from '../git/refs/ref-change.js';
import { Refs } from '../git/refs/refs.js';
import type { RepositoryContent } from '../repositories/content.js';
import type { LfsObjects } from '../repositories/lfs-objects.js';
import { Repository, type RepositoryHome, type RepositoryRecord } from '../repositories/repository.js';
import type { Engine } from './engine.js';
import type { StatePart } from './state-part.js';

const BTree = sortedBTree.default;
type SortedMap<K, V> = sortedBTree.default<K, V>;

/** What is known of all repositories apart from their objects: one immutable value, swapped in one step. */
interface Records {
  /** By id. */
  readonly byId: SortedMap<string, RepositoryRecord>;
  /** Id by `organization NUL name`. */
  readonly names: SortedMap<string, string>;
  /** Id by organization and sequence, in order of creation. */
  readonly order: SortedMap<string, string>;
  readonly created: number;
}

/** Objects as they were at one time. */
export interface KeptContent {
  readonly content: RepositoryContent;
  readonly mark: StoreMark;
}

export interface RepositoriesSnapshot {
  readonly records: Records;
  /** By repository id. */
  readonly contents: ReadonlyMap<string, KeptContent>;
}

export interface RepositoryPorts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  /** What snapshots hold of LFS objects. */
  readonly keptLfsObjects: () => Iterable<LfsObjects>;
  readonly requireCurrent: () => void;
  /** Told of refs that moved, after they did. */
  readonly moved: (record: RepositoryRecord, changes: readonly RefChange[]) => void;
}

/** All repositories: their records, their objects, and the handles that operations use. */
export class Repositories implements StatePart<RepositoriesSnapshot> {
  private records: Records = { byId: new BTree(), names: new BTree(), order: new BTree(), created: 0 };
  /** By id. What they hold beside the record is their content. */
  private handles = new Map<string, Repository>();
  private readonly home: RepositoryHome;

  constructor(private readonly ports: RepositoryPorts) {
    const { clock, engine, moved, requireCurrent } = ports;
    this.home = {
      record: (id) => this.records.byId.get(id)!,
      replace: (record) => this.replace(record),
      now: () => clock.now(),
      requireCurrent,
      moved,
      failed: (record, error) => {
        const stack = error instanceof Error ? error.stack : String(error);
        engine.log.write({ event: 'internal_error', operation: 'after-write', repository: record.name, stack });
      },
    };
  }

  /** The repository of that name, deleted or not; undefined when the name was never used. */
  find(organization: string, name: string): Repository | undefined {
    const id = this.records.names.get(nameKey(organization, name));
    return id === undefined ? undefined : this.handles.get(id);
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
      const repository = this.handles.get(id);
      if (repository) yield repository;
    }
  }

  /** Every repository there ever was, deleted ones included. */
  all(): IterableIterator<Repository> {
    return this.handles.values();
  }

  /** Creates a repository; a deleted one of the same name gives way. Throws if the name is in use. */
  create(
    organization: string,
    name: string,
    options: { defaultBranch: string } & Partial<Pick<RepositoryRecord, 'baseRepo' | 'hosting'>>,
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
      refs: Refs.empty(bytesOf(defaultBranch)),
      watermark: 0,
      ...rest,
    };
    this.records = {
      created: sequence,
      byId: records.byId.with(record.id, record, true),
      names: records.names.with(nameKey(organization, name), record.id, true),
      order: records.order.with(orderKey(organization, sequence), record.id, true),
    };
    return this.adopt(record.id, this.ports.engine.createContent());
  }

  /**
   * Marks the repository as deleted and lets go of its objects: their memory counts no more, and is free as
   * soon as the last running reader has ended. What a snapshot holds is held on.
   */
  delete(repository: Repository): void {
    const { engine, requireCurrent } = this.ports;
    requireCurrent();
    const { record, content } = repository;
    const lfsBytes = record.lfsObjects?.bytesHeldAlone(this.lfsObjectsBeside(record)) ?? 0;
    engine.gitService.forget(repository.git);
    this.replace({
      ...record,
      state: 'deleted',
      override: undefined,
      refs: Refs.empty(bytesOf('main')),
      watermark: 0,
      baseRepo: undefined,
      gitCredential: undefined,
      hosting: undefined,
      deployments: undefined,
      lfsObjects: undefined,
      lfsLocks: undefined,
    });
    this.records = {
      ...this.records,
      order: this.records.order.without(orderKey(record.organization, record.sequence)),
    };
    this.adopt(record.id, engine.createContent());
    if (content.snapshots === 0) content.release();
    engine.memory.give(lfsBytes);
  }

  snapshot(): RepositoriesSnapshot {
    const contents = new Map<string, KeptContent>();
    for (const [id, { content }] of this.handles) contents.set(id, { content, mark: content.objects.mark() });
    return { records: this.records, contents };
  }

  /** The contents have to be as they were at their marks, without a writer. */
  restore({ records, contents }: RepositoriesSnapshot): void {
    this.records = records;
    this.handles = new Map();
    for (const [id, { content }] of contents) this.adopt(id, content);
    for (const repository of this.handles.values()) {
      if (repository.record.state === 'syncing') this.endSync(repository);
    }
  }

  /** What was filling the repository has ended with its world. */
  private endSync(repository: Repository): void {
    if (repository.record.baseRepo) repository.update({ state: 'active' });
    // A fork that is not complete never was.
    else this.delete(repository);
  }

  /** What is held of LFS objects by other repositories, and in snapshots. */
  private *lfsObjectsBeside(record: RepositoryRecord): IterableIterator<LfsObjects> {
    for (const { id, lfsObjects } of this.records.byId.values()) if (lfsObjects && id !== record.id) yield lfsObjects;
    yield* this.ports.keptLfsObjects();
  }

  private replace(record: RepositoryRecord): void {
    this.records = { ...this.records, byId: this.records.byId.with(record.id, record, true) };
  }

  private adopt(id: string, content: RepositoryContent): Repository {
    const repository = new Repository(id, this.home, content);
    this.handles.set(id, repository);
    return repository;
  }
}

function nameKey(organization: string, name: string): string {
  return `${organization}\0${name}`;
}

function orderKey(organization: string, sequence: number): string {
  return `${organization}\0${String(sequence).padStart(12, '0')}`;
}
