import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import { GivenCell } from '../components/given.js';
import { Origin, Status } from '../components/status.js';
import { Time } from '../components/time.js';
import { writePlace } from '../place.js';
import type { Entry } from '../requests/entry.js';

/** Number of the latest requests that are shown. */
export const MAX_LATEST = 10;

export interface LatestRequestsProps {
  readonly scenario: ScenarioRecord;
  /** The latest requests of the journal, newest first, also those before the start of the scenario. */
  readonly latest: readonly Entry[];
}

/** The latest requests since a scenario was started, newest first. Each is a link to its details. */
export function LatestRequests({ scenario: { id, after }, latest }: LatestRequestsProps) {
  // Ids of requests have the same length, so their alphabetical order is the order of the requests.
  const since = latest.filter((entry) => after === undefined || entry.id > after);
  return (
    <section aria-label={`Latest requests since the start of ${id}`}>
      <h4>
        Latest requests <a href={writePlace('requests', { after })}>All since the start</a>
      </h4>
      {since.length === 0 && <p class="quiet">No requests since the start.</p>}
      <ul class="latest-requests">
        {since.map(({ id: request, at, method, path, query, operation, status, code, origin }) => (
          <li key={request}>
            <Time at={at} />
            <Status status={status} />
            <a class="latest-target" href={writePlace('requests', { id: request })}>
              <GivenCell text={`${method} ${query === '' ? path : `${path}?${query}`}`} />
            </a>
            <span class="latest-about quiet">
              <GivenCell text={code ?? operation ?? ''} />
            </span>
            <Origin origin={origin} />
          </li>
        ))}
      </ul>
    </section>
  );
}
