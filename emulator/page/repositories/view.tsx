import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { StateView } from '@emulator/admin/state.js';
import { useState } from 'preact/hooks';
import { all, get } from '../api/client.js';
import { GivenCell } from '../components/given.js';
import { Search, searched } from '../components/lists.js';
import { Failure, Loading, useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { type Column, Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { NewRepository } from './new-repository.js';
import { StateLabel } from './state.js';

/** Number of repositories that are shown at first. Each click on the button below the list adds this number. */
const MAX_ROWS = 500;

/**
 * Columns of the list of repositories. Columns with the CSS class `extra` are hidden on narrow screens. The overview of
 * a repository also shows their content.
 */
const COLUMNS: readonly Column<RepositoryRecord>[] = [
  [
    'Name',
    ({ name }) => (
      <a href={writePlace('repository', { name })}>
        <GivenCell text={name} />
      </a>
    ),
    'cell-name',
  ],
  ['State', ({ state }) => <StateLabel state={state} />],
  ['Default branch', (one) => <GivenCell text={one.default_branch ?? '–'} />, 'cell-name extra'],
  [
    'Head',
    ({ name, head }) =>
      head === null ? (
        <span class="quiet">none</span>
      ) : (
        <a class="mono" href={writePlace('repository', { name, commit: head })}>
          {head.slice(0, 8)}
        </a>
      ),
  ],
  ['Refs', ({ refs }) => count(refs), 'number extra'],
  ['Objects', ({ objects }) => count(objects), 'number extra'],
  ['Created', ({ created_at }) => <DateTime at={created_at} />, 'nowrap extra'],
];

/**
 * Reads the repositories of the organization. If the user has set the state of a repository, the state is taken from
 * `GET state`; otherwise, it is taken from the list.
 */
async function readAll(signal: AbortSignal): Promise<RepositoryRecord[]> {
  const repositories = await all<RepositoryRecord>('repositories', { query: { limit: 1000 }, signal });
  const { repositories: states } = await get<StateView>('state', { signal });
  return repositories.map((one) => ({ ...one, state: ownValue(states, one.name)?.state ?? one.state }));
}

/** Section of the web page that lists the repositories of an organization. */
export function View() {
  const [isAdding, setAdding] = useState(false);
  const { value: repositories, error, reload } = useLoaded(readAll, []);
  if (!repositories) return <Loading value={repositories} error={error} />;
  const found = searched(repositories);
  const isEmpty = repositories.length === 0;
  return (
    <div class="repositories">
      <h1>Repositories</h1>
      <Failure error={error} />
      {!isEmpty && (
        <div class="toolbar">
          <Search label="Filter by name" />
          <span class="quiet figures" role="status">
            {found.length < repositories.length && `${count(found.length)} of `}
            {count(repositories.length)}
          </span>
          <button type="button" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            New repository
          </button>
          <button type="button" onClick={reload}>
            Reload
          </button>
        </div>
      )}
      {(isEmpty || isAdding) && <NewRepository isFirst={isEmpty} />}
      {!isEmpty && (
        <Table
          label="Repositories"
          empty="No repository matches the filter."
          items={found}
          keyOf={({ id }) => id}
          columns={COLUMNS}
          most={MAX_ROWS}
        />
      )}
    </div>
  );
}
