import { API } from '../api/client.js';
import { adminToken } from '../api/session.js';
import { Copy } from '../components/copy.js';
import { faultForms } from './fault-forms.js';
import type { Fault, FaultKind, Operation } from './records.js';

export interface SameFaultProps {
  readonly fault: Fault;
  readonly operations: readonly Operation[];
  readonly kinds: readonly FaultKind[];
}

/** The fault in every form that asks for it, to copy. */
export function SameFault({ fault, operations, kinds }: SameFaultProps) {
  const adminUrl = API.href.replace(/\/$/, '');
  const forms = faultForms(fault, { operations, kinds, adminUrl, hasAdminToken: adminToken.value !== undefined });
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
