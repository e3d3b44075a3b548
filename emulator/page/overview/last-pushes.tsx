import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { OperationId } from '@emulator/config/operation-ids.js';
import { get, type Page, type QueryValue } from '../api/client.js';
import { Given, GivenCell } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { Status } from '../components/status.js';
import { Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { Ref } from '../repositories/ref-label.js';
import { clientName } from '../requests/client-name.js';
import { type Entry, type GitFacts, type Row, rowOf } from '../requests/entry.js';
import { Part } from './part.js';

/** Number of requests that are shown, and number of refs that are shown for each of them. */
const MAX_PUSHES = 5;
const MAX_REFS = 3;

/** Operations that move refs: pushes by Git, and the writes of the API. */
const PUSHES = [
  'gitReceivePack',
  'commitPack',
  'diffCommit',
  'restoreCommit',
  'merge',
  'createBranch',
  'deleteBranch',
  'createTag',
  'deleteTag',
  'deleteTagByBody',
  'writeNote',
  'deleteNote',
] as const satisfies readonly OperationId[];

/**
 * Filters of the requests that are shown. The second selects pushes and fetches that were refused at their first request
 * to the Git remote. A push then does not send the second request, `gitReceivePack`.
 */
const FILTERS: readonly Readonly<Record<string, QueryValue>>[] = [
  { operation: PUSHES.join(','), limit: MAX_PUSHES },
  { operation: 'gitInfoRefs', failed: true, limit: 20 },
];

/** Returns false for the first request of a fetch. Only a push asks for the service `git-receive-pack`. */
function isPush({ operation, query }: Entry): boolean {
  return operation !== 'gitInfoRefs' || new URLSearchParams(query).get('service') === 'git-receive-pack';
}

interface Push {
  readonly row: Row;
  /** Git facts of the request; undefined if it is not a push by Git, or was refused before Git's protocol began. */
  readonly git: GitFacts | undefined;
}

async function readPushes(repository: string, organization: string, signal: AbortSignal): Promise<Push[]> {
  const given = { repository, organization, order: 'newest', bodies: false };
  const parts = await Promise.all(
    FILTERS.map((filter) => get<Page<Entry>>('requests', { query: { ...given, ...filter }, signal })),
  );
  const pushes = parts.flatMap(({ items }) => items).filter(isPush);
  // All ids have the same length, so their alphabetical order is the order of the requests.
  pushes.sort((one, other) => (one.id < other.id ? 1 : -1));
  return pushes.slice(0, MAX_PUSHES).map((entry) => ({ row: rowOf(entry), git: entry.git }));
}

/** Part of the overview with the newest requests that changed refs of the repository, or were refused. */
export function LastPushes({ name, organization }: Pick<RepositoryRecord, 'name' | 'organization'>) {
  const loaded = useLoaded((signal) => readPushes(name, organization, signal), [name, organization]);
  return (
    <Part
      title="Last pushes"
      loaded={loaded}
      link={[writePlace('requests', { repository: name }), 'Requests to this repository']}
    >
      {(pushes) => (
        <Table
          label="Last pushes"
          empty="The journal has no push to this repository, and no other write of its refs."
          items={pushes}
          keyOf={({ row }) => row.id}
          columns={[
            [
              'Request',
              ({ row: { id, operation } }) => (
                <a href={writePlace('requests', { repository: name, id })}>{operation}</a>
              ),
              'cell-text',
            ],
            ['Refs', ({ git }) => git && <Updates git={git} />, 'cell-text'],
            ['Status', ({ row }) => <Outcome row={row} />],
            [
              'Client',
              ({ row: { userAgent } }) => userAgent && <GivenCell text={clientName(userAgent)} full={userAgent} />,
              'cell-text extra',
            ],
            ['Time', ({ row: { at } }) => <DateTime at={at} />],
          ]}
        />
      )}
    </Part>
  );
}

function Outcome({ row: { status, code, outcome } }: { readonly row: Row }) {
  return (
    <>
      <Status status={status} />
      {(outcome === 'cut' || outcome === 'gone') && <span class="failed"> {outcome}</span>}
      {code !== undefined && (
        <>
          {' '}
          <Given text={code} />
        </>
      )}
    </>
  );
}

/** Refs that a push by Git moves. If the response refused a ref, the reason follows its name. */
function Updates({ git: { updates, counts } }: { readonly git: GitFacts }) {
  return (
    <>
      {updates.slice(0, MAX_REFS).map(({ ref, refused }, at) => (
        <div key={at}>
          <Ref name={ref} />
          {refused !== undefined && (
            <span class="failed">
              {' '}
              ng <Given text={refused} />
            </span>
          )}
        </div>
      ))}
      {counts.updates > MAX_REFS && <div class="quiet">{count(counts.updates - MAX_REFS)} more</div>}
    </>
  );
}
