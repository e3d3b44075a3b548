import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';
import type { RepositoryStateView } from '@emulator/admin/state.js';

/** Open repository. */
export interface Opened {
  readonly record: RepositoryRecord;
  readonly state: RepositoryStateView;
  readonly refs: readonly RefRecord[];
}

/** Properties of the parts of the open repository. */
export interface OpenedProps {
  readonly opened: Opened;
}
