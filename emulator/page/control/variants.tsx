import type { VariantRecord } from '@emulator/admin/state.js';
import { useState } from 'preact/hooks';
import { all, patch } from '../api/client.js';
import { Choice, type Option, TextField } from '../components/fields.js';
import { useManaged } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { Commands } from './command.js';

const valuesOf = (variants: readonly VariantRecord[], member: 'value' | 'default') => ({
  variants: Object.fromEntries(variants.map((one) => [one.name, one[member]])),
});

/**
 * Part of the emulator's web page that lists the points that the specification leaves open. The user can set the
 * emulator's behaviour at each point.
 */
export function VariantsPart() {
  const { value, change, notice } = useManaged((signal) => all<VariantRecord>('variants', { signal }));
  const [wanted, setWanted] = useState('');
  if (value === undefined) return notice;
  const set = (state: object) => change(() => patch('state', state));
  const changed = value.filter((one) => one.value !== one.default);
  const shown = value.filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      <p>
        A variant is a choice that the specification leaves open, so deployments may differ. A client should work with
        every value.
      </p>
      <div class="toolbar">
        <TextField
          label="Search"
          fieldClass="inline grow"
          class="grow"
          type="search"
          value={wanted}
          onChange={setWanted}
        />
        <span>
          {changed.length} of {value.length} changed
        </span>
        <button type="button" disabled={changed.length === 0} onClick={() => set(valuesOf(changed, 'default'))}>
          Reset all to defaults
        </button>
      </div>
      {notice}
      <Table
        empty="No variant matches the search."
        label="Variants"
        hasRowHeads
        class="variants"
        items={shown}
        keyOf={({ name }) => name}
        rowClass={(one) => (one.value === one.default ? '' : 'changed')}
        columns={[
          [
            'Variant',
            (one) => (
              <>
                {one.name}
                {one.value !== one.default && <span class="mark">changed</span>}
              </>
            ),
          ],
          [
            'Value',
            ({ name, values, value: now, default: usual }) => (
              <Choice
                label={<span class="visually-hidden">{name}</span>}
                value={now}
                options={values.map((one): Option => [one, one === usual ? `${one} (default)` : one])}
                onChange={(to) => set({ variants: { [name]: to } })}
              />
            ),
          ],
          ['Description', ({ about }) => about],
        ]}
      />
      <Commands
        lines={[
          ['variants'],
          ['state', 'set', JSON.stringify(valuesOf(changed.length > 0 ? changed : value.slice(0, 1), 'value'))],
        ]}
      />
    </>
  );
}
