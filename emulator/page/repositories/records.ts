import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';

/** Open repository, as passed to its views. */
export interface Opened {
  readonly record: RepositoryRecord;
  readonly refs: readonly RefRecord[];
}
