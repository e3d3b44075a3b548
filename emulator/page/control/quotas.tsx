import type { QuotaView } from '@emulator/admin/quotas.js';
import { useState } from 'preact/hooks';
import { get, patch } from '../api/client.js';
import { ConfirmButton } from '../components/action.js';
import { Given } from '../components/given.js';
import { useManaged } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { count } from '../components/time.js';
import { Commands } from './command.js';
import { NEW_QUOTA, QuotaForm } from './quota-form.js';

interface Quotas {
  readonly quotas: Readonly<Record<string, QuotaView>>;
}

/** Quotas, which limit the request rate of clients. */
export function QuotasPart() {
  const { value, change, notice } = useManaged((signal) => get<Quotas>('quotas', { signal }));
  const [draft, setDraft] = useState({ name: 'requests', quota: NEW_QUOTA });
  if (value === undefined) return notice;
  const set = (name: string, quota: QuotaView | null) => change(() => patch('quotas', { quotas: { [name]: quota } }));
  const rows = Object.entries(value.quotas);
  return (
    <>
      <p>
        A quota is a bucket of tokens that requests take and that fills again by the clock of the emulator. A request
        that finds it empty is refused with 429 <code>rate_limited</code>.
      </p>
      {notice}
      <Table
        empty="No quotas: clients may send any number of requests."
        label="Quotas"
        items={rows}
        keyOf={([name]) => name}
        columns={[
          ['Quota', ([name]) => name],
          ['Tokens', ([, { capacity }]) => count(capacity)],
          ['Refill', ([, { refill }]) => refill],
          ['A bucket for each', ([, { by }]) => by.join(' and ') || 'all together'],
          ['Cost', ([, { cost }]) => Array.from(Object.entries(cost), (entry) => entry.join(': ')).join(', ')],
        ]}
        actions={([name, quota]) => (
          <>
            <button type="button" class="small" onClick={() => setDraft({ name, quota })}>
              Change<span class="visually-hidden"> {name}</span>
            </button>{' '}
            <ConfirmButton label="Remove" subject={name} title="Remove the quota?" act={() => set(name, null)}>
              <p>
                <Given text={name} /> bounds no request from then on.
              </p>
            </ConfirmButton>
          </>
        )}
      />
      <QuotaForm {...draft} onChange={setDraft} act={() => set(draft.name, draft.quota)} />
      <Commands
        lines={[
          ['quota', 'set', draft.name || 'requests', JSON.stringify(draft.quota)],
          ['quota', 'show'],
          ['quota', 'rm', draft.name || 'requests'],
        ]}
      />
    </>
  );
}
