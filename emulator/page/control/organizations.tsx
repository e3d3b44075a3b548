import { useState } from 'preact/hooks';
import { get, patch } from '../api/client.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { bytes, DateTime } from '../components/time.js';
import { Commands } from './command.js';

interface Organization {
  readonly authentication: 'available' | 'unavailable';
  readonly hosting: 'on' | 'off';
  readonly forgeApps: number;
  readonly upstream: 'reachable' | { readonly error: string; readonly status?: number };
  readonly ends?: { readonly requests?: number; readonly at?: string; readonly signal?: string };
}

interface State {
  readonly organizations: Readonly<Record<string, Organization>>;
  readonly limits: Readonly<Record<string, number>>;
}

/** Switches of organizations, and limits of all. */
export function OrganizationsPart() {
  const { value, error: unloaded, reload } = useLoaded((signal) => get<State>('state', { signal }), []);
  const { run, isBusy, error } = useAction();
  if (value === undefined) return <Loading value={value} error={unloaded} />;
  const change = (body: object) => run(async () => patch('state', body).then(reload));
  return (
    <>
      <Failure error={error ?? unloaded} />
      {Object.entries(value.organizations).map(([name, organization]) => (
        <Switches
          key={name}
          name={name}
          organization={organization}
          isBusy={isBusy}
          change={(changes) => change({ organizations: { [name]: changes } })}
        />
      ))}
      <h2>Limits</h2>
      <p class="quiet">What a request may bring or take; 413, 400 or 504 beyond it.</p>
      <div class="fields">
        {Object.entries(value.limits).map(([name, limit]) => (
          <Limit
            key={`${name} ${limit}`}
            name={name}
            limit={limit}
            change={(to) => change({ limits: { [name]: to } })}
          />
        ))}
      </div>
      <Commands
        lines={[
          ['state', 'show'],
          ['state', 'set', '--org', `${Object.keys(value.organizations)[0]}.authentication=unavailable`],
          ['state', 'set', JSON.stringify({ limits: { maxFiles: 100 } })],
        ]}
      />
    </>
  );
}

interface SwitchesProps {
  readonly name: string;
  readonly organization: Organization;
  readonly isBusy: boolean;
  readonly change: (changes: object) => void;
}

function Switches({ name, organization, isBusy, change }: SwitchesProps) {
  const { authentication, hosting, forgeApps, upstream, ends } = organization;
  const [requests, setRequests] = useState('');
  const give = (changes: object) => change({ ...changes, ...(requests && { ends: { requests: Number(requests) } }) });
  return (
    <fieldset disabled={isBusy}>
      <legend>
        <Given text={name} />
      </legend>
      <div class="fields">
        <label>
          Authentication
          <select
            value={authentication}
            onChange={({ currentTarget }) => give({ authentication: currentTarget.value })}
          >
            <option>available</option>
            <option>unavailable</option>
          </select>
        </label>
        <label>
          Hosting
          <select value={hosting} onChange={({ currentTarget }) => give({ hosting: currentTarget.value })}>
            <option>on</option>
            <option>off</option>
          </select>
        </label>
        <label>
          Forge apps
          <input
            type="number"
            min="0"
            max="100"
            value={forgeApps}
            onChange={({ currentTarget }) => give({ forgeApps: Number(currentTarget.value) })}
          />
        </label>
        <label>
          Upstreams
          <select
            value={upstream === 'reachable' ? 'reachable' : 'failing'}
            onChange={({ currentTarget }) =>
              give({
                upstream: currentTarget.value === 'reachable' ? 'reachable' : { error: 'Bad gateway', status: 502 },
              })
            }
          >
            <option>reachable</option>
            <option>failing</option>
          </select>
        </label>
        <label>
          For so many requests (none: to stay)
          <input
            type="number"
            min="1"
            value={requests}
            onInput={({ currentTarget }) => setRequests(currentTarget.value)}
          />
        </label>
      </div>
      {authentication === 'unavailable' && (
        <p class="quiet">
          Every request is refused with 403 <code>authentication_unavailable</code>.
        </p>
      )}
      {hosting === 'off' && (
        <p class="quiet">
          Deployments are refused with 403 <code>hosting_not_enabled</code>.
        </p>
      )}
      {forgeApps !== 1 && (
        <p class="quiet">
          Syncs that need an application on the forge get 412 <code>forge_app_not_configured</code>.
        </p>
      )}
      {upstream !== 'reachable' && (
        <Upstream key={JSON.stringify(upstream)} upstream={upstream} change={(to) => change({ upstream: to })} />
      )}
      {ends && (
        <p>
          That ends{' '}
          {ends.requests !== undefined &&
            (ends.requests === 1 ? 'with the next refused request' : `after ${ends.requests} refused requests`)}
          {ends.at !== undefined && (
            <>
              at <DateTime at={ends.at} />
            </>
          )}
          {ends.signal !== undefined && (
            <>
              when the latch <Given text={ends.signal} /> is released
            </>
          )}
          .
        </p>
      )}
    </fieldset>
  );
}

interface UpstreamProps {
  readonly upstream: { readonly error: string; readonly status?: number };
  readonly change: (to: object) => void;
}

/** What reading an upstream fails with. */
function Upstream({ upstream, change }: UpstreamProps) {
  const [error, setError] = useState(upstream.error);
  const [status, setStatus] = useState(`${upstream.status ?? ''}`);
  const submit = (event: Event) => {
    event.preventDefault();
    change({ error, ...(status && { status: Number(status) }) });
  };
  return (
    <form class="fields" onSubmit={submit}>
      <label>
        Syncs fail with
        <input required value={error} onInput={({ currentTarget }) => setError(currentTarget.value)} />
      </label>
      <label>
        Status of the upstream
        <input
          type="number"
          min="400"
          max="599"
          value={status}
          onInput={({ currentTarget }) => setStatus(currentTarget.value)}
        />
      </label>
      <button type="submit" class="small">
        Set<span class="visually-hidden"> what upstreams fail with</span>
      </button>
    </form>
  );
}

interface LimitProps {
  readonly name: string;
  readonly limit: number;
  readonly change: (to: number) => void;
}

function Limit({ name, limit, change }: LimitProps) {
  const [given, setGiven] = useState(`${limit}`);
  const submit = (event: Event) => {
    event.preventDefault();
    change(Number(given));
  };
  return (
    <form class="fields" onSubmit={submit}>
      <label>
        {name}
        {readable(name, limit)}
        <input type="number" min="0" value={given} onInput={({ currentTarget }) => setGiven(currentTarget.value)} />
      </label>
      <button type="submit" class="small" disabled={given === `${limit}`}>
        Set<span class="visually-hidden"> {name}</span>
      </button>
    </form>
  );
}

/** ` (1.0 MB)`, ` (30 s)`; nothing of what is counted. */
function readable(name: string, limit: number): string {
  if (name.endsWith('Bytes')) return ` (${bytes(limit)})`;
  return name.endsWith('Timeout') ? ` (${limit / 1000} s)` : '';
}
