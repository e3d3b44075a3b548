import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import type { GraphCommit } from '@emulator/admin/repository-history.js';
import { get, type Page, route } from '../api/client.js';
import { GivenCell } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { CommitTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { Part } from './part.js';

/** Number of commits that are shown. */
const MAX_COMMITS = 5;

/** Part of the overview with the newest commits of HEAD, which is usually the default branch. */
export function LastCommits({ name, head }: Pick<RepositoryRecord, 'name' | 'head'>) {
  const loaded = useLoaded(
    async (signal) => {
      if (head === null) return [];
      const query = { ref: head, limit: MAX_COMMITS };
      return (await get<Page<GraphCommit>>(route`repositories/${name}/graph`, { query, signal })).items;
    },
    [name, head],
  );
  return (
    <Part title="Last commits" loaded={loaded} link={[writePlace('repository', { name, tab: 'commits' }), 'History']}>
      {(commits) => (
        <Table
          label="Last commits"
          empty="HEAD has no commit yet."
          isHeadHidden
          items={commits}
          keyOf={({ oid }) => oid}
          columns={[
            [
              'Subject',
              ({ oid, subject }) => (
                <a href={writePlace('repository', { name, tab: 'commits', commit: oid })}>
                  {subject === '' ? 'no message' : <GivenCell text={subject} />}
                </a>
              ),
              'cell-text',
            ],
            ['Author', ({ author }) => <GivenCell text={author} most={60} />, 'extra'],
            ['Time', ({ committed_at }) => <CommitTime at={committed_at} />],
          ]}
        />
      )}
    </Part>
  );
}
