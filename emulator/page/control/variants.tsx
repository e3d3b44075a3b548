import { useState } from 'preact/hooks';
import { get, patch } from '../api/client.js';
import { Failure, Loading } from '../components/feedback.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { Commands } from './command.js';

interface Variant {
  readonly name: string;
  readonly about: string;
  readonly values: readonly string[];
  readonly value: string;
  readonly default: string;
}

/** What the specification leaves open, and how it is answered here. */
export function VariantsPart() {
  const {
    value,
    error: unloaded,
    reload,
  } = useLoaded((signal) => get<{ items: readonly Variant[] }>('variants', { signal }), []);
  const { run, isBusy, error } = useAction();
  const [wanted, setWanted] = useState('');
  if (value === undefined) return <Loading value={value} error={unloaded} />;
  const change = (variants: object) => run(async () => patch('state', { variants }).then(reload));
  const changed = value.items.filter((one) => one.value !== one.default);
  const shownInLine = changed.length > 0 ? changed : value.items.slice(0, 1);
  const shown = value.items.filter(({ name, about }) =>
    `${name} ${about}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <>
      <p>
        Where the specification leaves something open, a deployment may answer either way. A client should get along
        with all.
      </p>
      <div class="toolbar">
        <label class="inline grow">
          Find
          <input
            class="grow"
            type="search"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </label>
        <span>
          {changed.length} of {value.items.length} changed
        </span>
        <button
          type="button"
          disabled={isBusy || changed.length === 0}
          onClick={() => change(Object.fromEntries(changed.map((one) => [one.name, one.default])))}
        >
          All back to default
        </button>
      </div>
      <Failure error={error ?? unloaded} />
      {shown.length === 0 && <p class="quiet">No variant has that in its name or its sentence.</p>}
      <Table label="Variants" class="variants" heads={['Variant', 'Value', 'What it is about']}>
        {shown.map(({ name, about, values, value: now, default: usual }) => (
          <tr key={name} class={now === usual ? '' : 'changed'}>
            <th scope="row">
              {name}
              {now !== usual && <span class="mark">changed</span>}
            </th>
            <td>
              <select
                aria-label={name}
                value={now}
                disabled={isBusy}
                onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
              >
                {values.map((one) => (
                  <option key={one} value={one}>
                    {one === usual ? `${one} (default)` : one}
                  </option>
                ))}
              </select>
            </td>
            <td>{about}</td>
          </tr>
        ))}
      </Table>
      <Commands
        lines={[
          ['variants'],
          [
            'state',
            'set',
            JSON.stringify({ variants: Object.fromEntries(shownInLine.map((one) => [one.name, one.value])) }),
          ],
        ]}
      />
    </>
  );
}
