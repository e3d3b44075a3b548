import { Given } from '../components/given.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import type { Opened, StateRecord } from './records.js';
import { StatePanel } from './state-panel.js';

export interface OverviewProps {
  readonly opened: Opened;
  readonly state: StateRecord;
  readonly onChange: () => void;
}

/** The record of a repository, its state, and how to clone it. */
export function Overview({ opened: { record }, state, onChange }: OverviewProps) {
  const { id, name, organization, default_branch, head, refs, objects, created_at, base_repo } = record;
  return (
    <div class="overview">
      <section aria-label="Record">
        <dl class="facts">
          <dt>Default branch</dt>
          <dd>{default_branch === null ? 'none: HEAD is detached' : <Given text={default_branch} />}</dd>
          <dt>Head</dt>
          <dd class="mono">
            {head === null ? (
              <span class="quiet">no commit yet</span>
            ) : (
              <a href={writePlace('repository', { name, tab: 'commits', commit: head })}>{head}</a>
            )}
          </dd>
          <dt>Refs</dt>
          <dd class="figures">{count(refs)}</dd>
          <dt>Objects</dt>
          <dd class="figures">{count(objects)}</dd>
          <dt>Created</dt>
          <dd>
            <DateTime at={created_at} />
          </dd>
          <dt>Organization</dt>
          <dd>
            <Given text={organization} />
          </dd>
          <dt>Id</dt>
          <dd class="mono">{id}</dd>
          {base_repo && (
            <>
              <dt>Upstream</dt>
              <dd>
                <Given text={`${base_repo.provider}: ${base_repo.owner}/${base_repo.name}`} />
              </dd>
            </>
          )}
        </dl>
        <p>
          <a href={writePlace('requests', { repository: name })}>Its requests</a>
        </p>
      </section>
      <StatePanel name={name} state={state} onChange={onChange} />
      <section class="card" aria-label="Clone">
        <h2>Clone</h2>
        <CloneLine name={name} />
      </section>
    </div>
  );
}
