import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';

/** An open repository as its parts are given it. */
export interface Opened {
  readonly record: RepositoryRecord;
  readonly refs: readonly RefRecord[];
}
