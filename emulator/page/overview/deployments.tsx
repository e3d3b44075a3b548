import type { DeploymentList } from '@emulator/admin/repository-activity.js';
import { get, route } from '../api/client.js';
import { Facts } from '../components/facts.js';
import { GivenCell } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { Part } from './part.js';

/** Number of deployments that are shown. */
const MAX_DEPLOYMENTS = 5;

/** Part of the overview with the newest deployments. It is omitted if the repository cannot be deployed. */
export function Deployments({ name }: { readonly name: string }) {
  const loaded = useLoaded(
    (signal) =>
      get<DeploymentList>(route`repositories/${name}/deployments`, { query: { limit: MAX_DEPLOYMENTS }, signal }),
    [name],
  );
  const { value, error } = loaded;
  const isAbsent = value === undefined || (value.project === null && value.items.length === 0);
  if (isAbsent && error === undefined) return null;
  return (
    <Part title="Deployments" loaded={loaded}>
      {({ items, project }) => (
        <>
          {project && (
            <Facts
              facts={[
                ['Project', project.project_name],
                ['Production branch', project.production_branch ?? 'the default branch'],
                ['Framework', project.framework ?? undefined],
                ['Deploy on push', project.deploy_on_push ? 'yes' : 'no'],
              ]}
            />
          )}
          <Table
            label="Deployments"
            empty="Nothing has been deployed yet."
            items={items}
            keyOf={({ id }) => id}
            columns={[
              ['Status', ({ status }) => status],
              ['Target', ({ target }) => target],
              ['Ref', ({ ref }) => <GivenCell text={ref} most={80} />, 'cell-text'],
              [
                'Commit',
                ({ commit_sha: commit }) => (
                  <a class="mono" href={writePlace('repository', { name, tab: 'commits', commit })}>
                    {commit.slice(0, 8)}
                  </a>
                ),
              ],
              ['Created', ({ created_at }) => <DateTime at={created_at} />, 'extra'],
            ]}
          />
        </>
      )}
    </Part>
  );
}
