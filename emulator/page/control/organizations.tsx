import type { OrganizationState, StateView } from '@emulator/admin/state.js';
import { useState } from 'preact/hooks';
import { get, patch } from '../api/client.js';
import { Form } from '../components/action.js';
import { Choice, TextField, useDraft } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useManaged } from '../components/loaded.js';
import { bytes } from '../components/time.js';
import { untilOf } from '../repositories/state.js';
import { Commands } from './command.js';

/**
 * Part of the emulator's web page with two kinds of settings: those of each organization, such as failing
 * authentication, and the limits of requests, such as the maximum number of files.
 */
export function OrganizationsPart() {
  const { value, isBusy, change, notice } = useManaged((signal) => get<StateView>('state', { signal }));
  if (value === undefined) return notice;
  const set = (state: object) => change(() => patch('state', state));
  return (
    <>
      {notice}
      {Object.entries(value.organizations).map(([name, organization]) => (
        <Switches
          key={name}
          name={name}
          organization={organization}
          isBusy={isBusy}
          change={(changes) => set({ organizations: { [name]: changes } })}
        />
      ))}
      <h2>Limits</h2>
      <p class="quiet">Limits of each request. A request that exceeds one gets 413, 400 or 504.</p>
      <div class="fields">
        {Object.entries(value.limits).map(([name, limit]) => (
          <Limit key={`${name} ${limit}`} name={name} limit={limit} change={(to) => set({ limits: { [name]: to } })} />
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
  readonly organization: OrganizationState;
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
        <Choice
          label="Authentication"
          value={authentication}
          options={['available', 'unavailable']}
          onChange={(to) => give({ authentication: to })}
        />
        <Choice
          label="Hosting for deployments"
          value={hosting}
          options={['on', 'off']}
          onChange={(to) => give({ hosting: to })}
        />
        <label>
          Number of forge apps
          <input
            type="number"
            min="0"
            max="100"
            value={forgeApps}
            onChange={({ currentTarget }) => give({ forgeApps: Number(currentTarget.value) })}
          />
        </label>
        <Choice
          label="Upstreams"
          value={upstream === 'reachable' ? 'reachable' : 'failing'}
          options={['reachable', 'failing']}
          onChange={(to) => give({ upstream: to === 'reachable' ? to : { error: 'Bad gateway', status: 502 } })}
        />
        <TextField
          label="Requests that the next change lasts (empty: no end)"
          type="number"
          min="1"
          value={requests}
          onChange={setRequests}
        />
      </div>
      {refusals(organization).map(([what, code]) => (
        <p key={code} class="quiet">
          {what} <code>{code}</code>.
        </p>
      ))}
      {upstream !== 'reachable' && (
        <Upstream key={JSON.stringify(upstream)} upstream={upstream} change={(to) => change({ upstream: to })} />
      )}
      {ends && (
        <p>
          This lasts <Given text={untilOf({ ends }) ?? ''} />.
        </p>
      )}
    </fieldset>
  );
}

/**
 * Returns the refusals that the current settings of an organization cause. Each refusal consists of a description and
 * an error code.
 */
function refusals({ authentication, hosting, forgeApps }: OrganizationState): [what: string, code: string][] {
  const all: [boolean, string, string][] = [
    [authentication === 'unavailable', 'Every request is refused with 403', 'authentication_unavailable'],
    [hosting === 'off', 'Deployments are refused with 403', 'hosting_not_enabled'],
    [forgeApps !== 1, 'Syncs that need an application on the forge fail with 412', 'forge_app_not_configured'],
  ];
  return all.filter(([isRefused]) => isRefused).map(([, what, code]) => [what, code]);
}

interface UpstreamProps {
  readonly upstream: Exclude<OrganizationState['upstream'], string>;
  readonly change: (to: object) => void;
}

/**
 * Form that sets the error with which requests to the upstreams of an organization fail. Upstreams are external forges
 * to which the service sends requests.
 */
function Upstream({ upstream, change }: UpstreamProps) {
  const { draft, bind } = useDraft({ error: upstream.error, status: `${upstream.status ?? ''}` });
  return (
    <Form
      class="fields"
      submit={setOf('the error of upstreams')}
      submitClass="small"
      act={() => change({ error: draft.error, ...(draft.status && { status: Number(draft.status) }) })}
    >
      <TextField label="Error message of syncs" required {...bind('error')} />
      <TextField label="HTTP status of the upstream" type="number" min="400" max="599" {...bind('status')} />
    </Form>
  );
}

interface LimitProps {
  readonly name: string;
  readonly limit: number;
  readonly change: (to: number) => void;
}

function Limit({ name, limit, change }: LimitProps) {
  const [given, setGiven] = useState(`${limit}`);
  return (
    <Form
      class="fields"
      submit={setOf(name)}
      submitClass="small"
      isDisabled={given === `${limit}`}
      act={() => change(Number(given))}
    >
      <TextField label={`${name}${readable(name, limit)}`} type="number" min="0" value={given} onChange={setGiven} />
    </Form>
  );
}

const setOf = (what: string) => (
  <>
    Set<span class="visually-hidden"> {what}</span>
  </>
);

/**
 * Formats the value of a limit in readable units, in parentheses. The result is ` (1.0 MB)` for a name that ends with
 * `Bytes`, and ` in ms (30 s)` for a name that ends with `Timeout`. It is empty for a limit without unit.
 */
function readable(name: string, limit: number): string {
  if (name.endsWith('Bytes')) return ` (${bytes(limit)})`;
  return name.endsWith('Timeout') ? ` in ms (${limit / 1000} s)` : '';
}
