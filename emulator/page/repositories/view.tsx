import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { StateView } from '@emulator/admin/state.js';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { all, get } from '../api/client.js';
import { Failure, Loading } from '../components/feedback.js';
import { GivenCell } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { Search, searched } from '../components/search.js';
import { Row, Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { NewRepository } from './new-repository.js';
import { StateLabel } from './state-label.js';

/** Rows that are drawn; the filter finds the others. */
const MOST_ROWS = 500;

/** Headings; those of `extra` columns give way on narrow screens, as the overview of a repository has them too. */
const HEADS = [
  'Name',
  'State',
  <th key="branch" scope="col" class="extra">
    Default branch
  </th>,
  'Head',
  <th key="refs" scope="col" class="extra number">
    Refs
  </th>,
  <th key="objects" scope="col" class="extra number">
    Objects
  </th>,
  <th key="created" scope="col" class="extra">
    Created
  </th>,
];

/** The repositories of the organization. */
export function View() {
  const [isAdding, setAdding] = useState(false);
  const { value, error, reload } = useLoaded(
    async (signal) => ({
      repositories: await all<RepositoryRecord>('repositories', { query: { limit: 1000 }, signal }),
      states: await get<StateView>('state', { signal }),
    }),
    [],
  );
  if (!value) return <Loading value={value} error={error} />;
  const { repositories, states } = value;
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
      {found.length > 0 && (
        <>
          <Table label="Repositories" heads={HEADS}>
            {found.slice(0, MOST_ROWS).map((one) => (
              <Row key={one.id} cells={cellsOf(one, ownValue(states.repositories, one.name)?.state ?? one.state)} />
            ))}
          </Table>
          {found.length > MOST_ROWS && (
            <p class="quiet">{count(found.length - MOST_ROWS)} more: filter by name to see them.</p>
          )}
        </>
      )}
      {!isEmpty && found.length === 0 && <p class="quiet">No repository has a name with this in it.</p>}
    </div>
  );
}

function cellsOf(record: RepositoryRecord, state: string): readonly ComponentChildren[] {
  const { name, default_branch, head, refs, objects, created_at } = record;
  return [
    <td key="name" class="cell-name">
      <a href={writePlace('repository', { name })}>
        <GivenCell text={name} />
      </a>
    </td>,
    <StateLabel key="state" state={state} />,
    <td key="branch" class="cell-name extra">
      {default_branch === null ? '–' : <GivenCell text={default_branch} />}
    </td>,
    head === null ? (
      <span class="quiet">none</span>
    ) : (
      <a class="mono" href={writePlace('repository', { name, commit: head })}>
        {head.slice(0, 8)}
      </a>
    ),
    <td key="refs" class="number extra">
      {count(refs)}
    </td>,
    <td key="objects" class="number extra">
      {count(objects)}
    </td>,
    <td key="created" class="nowrap extra">
      <DateTime at={created_at} />
    </td>,
  ];
}
