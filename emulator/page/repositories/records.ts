import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';
import type { RepositoryStateView } from '@emulator/admin/state.js';

/** Data of the repository that the page shows. */
export interface Opened {
  readonly record: RepositoryRecord;
  readonly state: RepositoryStateView;
  readonly refs: readonly RefRecord[];
}

/** Properties of the components that each show one tab of a repository. */
export interface OpenedProps {
  readonly opened: Opened;
}
