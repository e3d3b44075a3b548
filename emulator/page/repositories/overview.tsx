import type { RepositoryRecord } from '@emulator/admin/repositories.js';
import { Facts } from '../components/facts.js';
import { count, DateTime } from '../components/time.js';
import { Deployments } from '../overview/deployments.js';
import { LastCommits } from '../overview/last-commits.js';
import { LastPushes } from '../overview/last-pushes.js';
import { Lfs } from '../overview/lfs.js';
import { Readme } from '../overview/readme.js';
import { Sync } from '../overview/sync.js';
import { Webhooks } from '../overview/webhooks.js';
import { writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import type { OpenedProps } from './records.js';
import { StatePanel } from './state.js';

/**
 * Tab of a repository that shows its main data, its README, and its newest commits, pushes, deployments, LFS objects,
 * syncs and deliveries to webhooks. Buttons change its state, for example to archived.
 */
export function Overview({ opened: { record, state } }: OpenedProps) {
  const { name } = record;
  return (
    <div class="overview">
      <div>
        <Record record={record} />
        <LastPushes {...record} />
        <LastCommits {...record} />
        <Readme {...record} />
      </div>
      <div>
        <StatePanel name={name} state={state} />
        <section class="card" aria-label="Clone">
          <h2>Clone</h2>
          <CloneLine name={name} />
        </section>
        {record.base_repo && <Sync name={name} />}
        <Webhooks {...record} />
        <Deployments name={name} />
        <Lfs name={name} />
      </div>
    </div>
  );
}

function Record({ record }: { readonly record: RepositoryRecord }) {
  const { id, name, organization, default_branch, head, refs, objects, created_at, base_repo } = record;
  return (
    <section class="card" aria-label="Details">
      <Facts
        facts={[
          ['Default branch', default_branch ?? 'none: HEAD is detached'],
          [
            'Head',
            head === null ? (
              <span class="quiet">no commit yet</span>
            ) : (
              <a href={writePlace('repository', { name, tab: 'commits', commit: head })}>{head}</a>
            ),
            'mono',
          ],
          ['Refs', count(refs), 'figures'],
          ['Objects', count(objects), 'figures'],
          ['Created', <DateTime key="at" at={created_at} />],
          ['Organization', organization],
          ['Id', id, 'mono'],
          ['Upstream', base_repo && `${base_repo.provider}: ${base_repo.owner}/${base_repo.name}`],
        ]}
      />
    </section>
  );
}
