import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';
import type { RepositoryStateView } from '@emulator/admin/state.js';

/** Data of the repository that the page shows. All tabs of the repository share it. */
export interface Opened {
  readonly record: RepositoryRecord;
  readonly state: RepositoryStateView;
  readonly refs: readonly RefRecord[];
}

/** Properties of a component that shows one tab of a repository, such as its commits. */
export interface OpenedProps {
  readonly opened: Opened;
}

/** Returns the ref of the default branch; undefined if the branch does not exist. */
export function defaultRef({ record: { default_branch }, refs }: Opened): RefRecord | undefined {
  return refs.find(({ name }) => name === `refs/heads/${default_branch}`);
}
