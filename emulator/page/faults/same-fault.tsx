import type { FaultForms } from '@emulator/admin/faults.js';
import { get, route } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Loading, useLoaded } from '../components/loaded.js';

/**
 * Shows an armed fault in all notations that the emulator accepts, such as a command or a header. Each notation has a
 * copy button.
 */
export function SameFault({ id }: { readonly id: string }) {
  const { value, error } = useLoaded((signal) => get<FaultForms>(route`faults/${id}/forms`, { signal }), [id]);
  return (
    <>
      <Loading value={value} error={error} />
      {value && <Forms forms={value.forms} />}
    </>
  );
}

export function Forms({ forms }: Pick<FaultForms, 'forms'>) {
  return (
    <>
      {forms.map(({ id, title, text, why, note }) => (
        <section key={id} class="fault-form" aria-label={title}>
          <h3>{title}</h3>
          {text === undefined ? <p class="quiet">{why}</p> : <Copy text={text} />}
          {note && <p class="quiet">{note}</p>}
        </section>
      ))}
    </>
  );
}
