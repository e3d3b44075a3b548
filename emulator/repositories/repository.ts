import { History } from '../git/history/history.js';
import type { Refs } from '../git/refs.js';
import { GitRepository } from '../git/repository.js';
import type { ObjectStore } from '../git/store/object-store.js';
import type { RepositoryState } from './lifecycle.js';

/** The external repository a repository was created from. */
export interface BaseRepository {
  readonly provider: string;
  readonly owner: string;
  readonly name: string;
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
  readonly state: RepositoryState;
  readonly refs: Refs;
  /** Objects stored when `refs` was set: with `refs`, all a snapshot needs to know of the object store. */
  readonly watermark: number;
  readonly baseRepo?: BaseRepository;
}

export interface RepositoryHome {
  record(id: string): RepositoryRecord;
  replace(record: RepositoryRecord): void;
  now(): number;
}

/** The handle of one repository: its record, which the world keeps, and its Git side. */
export class Repository {
  readonly git: GitRepository;

  constructor(
    readonly id: string,
    private readonly home: RepositoryHome,
    objects: ObjectStore,
  ) {
    const cell = {
      get: () => this.record.refs,
      set: (refs: Refs) => this.update({ refs, watermark: objects.size }),
    };
    this.git = new GitRepository(objects, new History(objects), cell, () => home.now());
  }

  get record(): RepositoryRecord {
    return this.home.record(this.id);
  }

  get name(): string {
    return this.record.name;
  }

  /** Swaps the record for one with `changes` in it. */
  update(changes: Partial<Omit<RepositoryRecord, 'id' | 'organization' | 'name' | 'sequence'>>): void {
    this.home.replace({ ...this.record, ...changes });
  }

  /** The short name of the branch HEAD points at; undefined when HEAD is detached. */
  get defaultBranch(): string | undefined {
    const { head } = this.record.refs;
    return 'symref' in head && head.symref.startsWith('refs/heads/')
      ? head.symref.slice('refs/heads/'.length)
      : undefined;
  }
}
