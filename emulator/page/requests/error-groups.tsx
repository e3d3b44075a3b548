import type { RequestGroup } from '@emulator/admin/request-groups.js';
import { get, type Page } from '../api/client.js';
import { GivenCell } from '../components/given.js';
import { Loading, useLoaded, useReloads } from '../components/loaded.js';
import { Status } from '../components/status.js';
import { Table } from '../components/table.js';
import { count } from '../components/time.js';
import { placeWith } from '../place.js';
import { clientName } from './client-name.js';
import type { Filter } from './filter.js';

/** Maximum number of groups that the table shows. */
const MAX_GROUPS = 100;

/**
 * Minimum time in milliseconds between two readings of the counts. The emulator examines the whole journal for each.
 */
const PAUSE = 2_000;

export interface ErrorGroupsProps {
  readonly filter: Filter;
  /** Id of the last event about the requests. When it changes, the counts are read again after a pause. */
  readonly lastEvent: number;
}

/**
 * Table of the errors that match the filter. It has a row for each combination of status, error code (or `cut` and
 * `gone` for broken connections), operation and client, with the number of requests. The number is a link that sets the filter.
 */
export function ErrorGroups({ filter: { text, ...query }, lastEvent }: ErrorGroupsProps) {
  const { value, error, reload } = useLoaded(
    (signal) =>
      get<Page<RequestGroup>>('requests/groups', { query: { ...query, failed: true, limit: MAX_GROUPS }, signal }),
    [JSON.stringify(query)],
  );
  useReloads(reload, lastEvent, PAUSE);
  return (
    <>
      <Loading value={value} error={error} />
      {value && (
        <Table
          label="Error counts"
          empty="No errors match the filter."
          items={value.items}
          keyOf={({ values }) => JSON.stringify(values)}
          columns={[
            ['Count', (group) => <Count key="count" group={group} />, 'number'],
            ['Status', ({ values }) => <Status status={Number(values.status)} />],
            ['Code', ({ values }) => <Value text={values.code ?? brokenOf(values)} />],
            ['Operation', ({ values }) => <Value text={values.operation} />],
            ['Client', ({ values: { userAgent } }) => <Value text={userAgent} short={clientName} />],
          ]}
        />
      )}
      {value?.has_more && <p class="quiet">Only the {count(MAX_GROUPS)} most frequent combinations are shown.</p>}
      {text !== undefined && <p class="quiet">The counts ignore the words of the filter that have no name.</p>}
    </>
  );
}

function Count({ group }: { readonly group: RequestGroup }) {
  const { status, code, operation, userAgent } = group.values;
  const outcome = brokenOf(group.values);
  const wanted = Object.entries({ status, code, outcome, operation, userAgent }).map(([name, value]) => [
    name,
    value === null || value === undefined ? undefined : `${value}`,
  ]);
  return (
    <a href={placeWith({ failed: 'true', ...Object.fromEntries(wanted), id: undefined })} title="Show these requests">
      {count(group.count)}
    </a>
  );
}

/** Returns the outcome of requests whose connection broke, such as `cut`; undefined for all others. */
function brokenOf({ outcome }: RequestGroup['values']) {
  return outcome === 'cut' || outcome === 'gone' ? outcome : undefined;
}

interface ValueProps {
  readonly text: RequestGroup['values'][keyof RequestGroup['values']];
  /** Returns a short form of the text. The tooltip shows the whole text. */
  readonly short?: (text: string) => string;
}

function Value({ text, short = (whole) => whole }: ValueProps) {
  return typeof text === 'string' ? <GivenCell text={short(text)} full={text} /> : <span class="quiet">none</span>;
}
