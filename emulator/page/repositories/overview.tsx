import { Facts } from '../components/facts.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import type { OpenedProps } from './records.js';
import { StatePanel } from './state.js';

/**
 * Tab of a repository that shows its main data, buttons that change its state (such as archived), and a command for
 * cloning it.
 */
export function Overview({ opened: { record, state } }: OpenedProps) {
  const { id, name, organization, default_branch, head, refs, objects, created_at, base_repo } = record;
  return (
    <div class="overview">
      <section aria-label="Record">
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
        <p>
          <a href={writePlace('requests', { repository: name })}>Its requests</a>
        </p>
      </section>
      <StatePanel name={name} state={state} />
      <section class="card" aria-label="Clone">
        <h2>Clone</h2>
        <CloneLine name={name} />
      </section>
    </div>
  );
}
