import { useState } from 'preact/hooks';
import { get, patch } from '../api/client.js';
import { ConfirmButton } from '../components/confirm.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { ACTIONS, Table } from '../components/table.js';
import { count } from '../components/time.js';
import { Commands } from './command.js';
import { emptyDraft, type Quota, QuotaForm, quotaOf } from './quota-form.js';

interface Quotas {
  readonly quotas: Readonly<Record<string, Quota>>;
}

/** What bounds how often clients may ask. */
export function QuotasPart() {
  const { value, error: unloaded, reload } = useLoaded((signal) => get<Quotas>('quotas', { signal }), []);
  const { run, isBusy, error } = useAction();
  const [draft, setDraft] = useState(emptyDraft);
  if (value === undefined) return <Loading value={value} error={unloaded} />;
  const change = (quotas: object) => run(async () => patch('quotas', { quotas }).then(reload));
  const rows = Object.entries(value.quotas);
  return (
    <>
      <p>
        A quota is a bucket of tokens that requests take and that fills again by the clock of the emulator. A request
        that finds it empty is refused with 429 <code>rate_limited</code>.
      </p>
      <Failure error={error ?? unloaded} />
      {rows.length === 0 ? (
        <p class="quiet">There is none: clients may ask as often as they like.</p>
      ) : (
        <Table label="Quotas" heads={['Quota', 'Tokens', 'Refill', 'A bucket for each', 'Cost', ACTIONS]}>
          {rows.map(([name, quota]) => (
            <tr key={name}>
              <td>
                <Given text={name} />
              </td>
              <td>{count(quota.capacity)}</td>
              <td>{quota.refill}</td>
              <td>{quota.by.join(' and ') || 'all together'}</td>
              <td>
                {Object.entries(quota.cost)
                  .map(([pattern, cost]) => `${pattern}: ${cost}`)
                  .join(', ')}
              </td>
              <td class="actions">
                <button type="button" class="small" onClick={() => setDraft({ ...draft, name, quota })}>
                  Change<span class="visually-hidden"> {name}</span>
                </button>{' '}
                <ConfirmButton
                  label="Remove"
                  subject={name}
                  title="Remove the quota?"
                  isBusy={isBusy}
                  act={() => change({ [name]: null })}
                >
                  <p>
                    <Given text={name} /> bounds no request from then on.
                  </p>
                </ConfirmButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <QuotaForm
        draft={draft}
        setDraft={setDraft}
        isBusy={isBusy}
        set={() => change({ [draft.name]: quotaOf(draft) })}
      />
      <Commands
        lines={[
          ['quota', 'set', draft.name || 'requests', JSON.stringify(quotaOf(draft))],
          ['quota', 'show'],
          ['quota', 'rm', draft.name || 'requests'],
        ]}
      />
    </>
  );
}
