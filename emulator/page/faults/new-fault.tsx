import type { FaultForms, FaultKinds, FaultView } from '@emulator/admin/faults.js';
import type { OperationRecord } from '@emulator/admin/operations.js';
import { useEffect, useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { CloseButton } from '../components/dialog.js';
import { Check, Choice, type Option, TextField } from '../components/fields.js';
import { Failure, useAction } from '../components/loaded.js';
import { type Draft, EMPTY, type FaultKind, type Offers, offersFor, settle, specOf } from './draft.js';
import { ConditionFields, CountFields, KeyFields, type PartProps } from './fault-fields.js';
import { Forms } from './same-fault.js';

export interface NewFaultProps {
  readonly kinds: FaultKinds;
  readonly operations: readonly OperationRecord[];
  /** Initial values of the form's fields. For example, a link to the form contains them in its URL. */
  readonly initial: Draft;
  readonly onAdded?: (fault: FaultView) => void;
}

/** Milliseconds without a change in the form. After this pause, the page asks the emulator to check the fault. */
const PAUSE = 120;

/**
 * Form that creates a fault (deliberate failure of requests). It also shows the fault in all notations that the
 * emulator accepts.
 */
export function NewFault({ kinds, operations, initial, onAdded }: NewFaultProps) {
  const [draft, setDraft] = useState(() => settle(initial, kinds, operations));
  const spec = specOf(draft);
  const { run, isBusy, error } = useAction();
  const change = (changes: Partial<Draft>) => setDraft(settle({ ...draft, ...changes }, kinds, operations));
  const bind = (name: 'times' | 'skip' | 'stage') => ({
    value: draft[name],
    onChange: (text: string) => change({ [name]: text }),
  });
  const offers = offersFor(draft, kinds, operations);
  const missing = offers.keys.filter(({ key, needed }) => needed && !draft.keys[key]);
  const { forms, error: refused } = useForms(missing.length === 0 ? spec : undefined);
  const parts = { draft, offers, onChange: change };
  const submit = (event: Event) => {
    event.preventDefault();
    run(() => post<FaultView>('faults', { spec }).then(onAdded));
  };
  return (
    <section aria-labelledby="new-fault">
      <h2 id="new-fault">New fault</h2>
      <form class="card new-fault" noValidate onSubmit={submit}>
        <Operations {...parts} operations={operations} />
        <Kinds {...parts} />
        <KeyFields {...parts} />
        <div class="fields">
          <CountFields times={bind('times')} skip={bind('skip')} />
          <Choice
            label="Stage"
            options={[
              ...(offers.defaults.length > 0 ? [['', defaultText(draft, offers)] as const] : []),
              ...offers.stages,
            ]}
            {...bind('stage')}
          />
        </div>
        <ul class="quiet about">
          {(draft.stage ? [draft.stage] : offers.defaults).map((stage) => (
            <li key={stage}>
              <code>{stage}</code>: {kinds.stages[stage]}
            </li>
          ))}
        </ul>
        <ConditionFields {...parts} />
        <details>
          <summary>More settings</summary>
          <div class="fields">
            {offers.further.map(({ key, label, hint, values: named }) => {
              const field = {
                label,
                hint,
                value: draft.further[key] ?? '',
                onChange: (text: string) => change({ further: { ...draft.further, [key]: text } }),
              };
              return named ? (
                <Choice key={key} {...field} options={[['', 'default'], ...named]} />
              ) : (
                <TextField key={key} {...field} />
              );
            })}
          </div>
        </details>
        <div class="toolbar">
          <button type="submit" class="primary" disabled={isBusy}>
            Add the fault
          </button>
          <button type="button" onClick={() => setDraft(settle(EMPTY, kinds, operations))}>
            Reset the form
          </button>
        </div>
        <Failure error={refused ?? error} />
      </form>
      {missing.length > 0 && <p class="quiet">Required: {missing.map(({ key }) => key).join(', ')}</p>}
      {forms && (
        <>
          <h2>Copy the fault as</h2>
          <Forms forms={forms} />
        </>
      )}
    </section>
  );
}

/**
 * Returns a fault in all notations that the emulator accepts, or the error in it. Returns neither until the first
 * response arrives, or if `spec` is undefined. For this request, the emulator only parses `spec` and does not arm the
 * fault.
 */
function useForms(spec: string | undefined): { readonly forms?: FaultForms['forms']; readonly error?: unknown } {
  const [checked, setChecked] = useState<ReturnType<typeof useForms>>({});
  useEffect(() => {
    if (spec === undefined) return setChecked({});
    const abort = new AbortController();
    const { signal } = abort;
    const timer = setTimeout(() => {
      post<FaultForms>('faults/forms', { spec }, { signal }).then(setChecked, (error: unknown) => {
        if (!signal.aborted) setChecked({ error });
      });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [spec]);
  return checked;
}

function Operations({ draft, operations, onChange }: PartProps & Pick<NewFaultProps, 'operations'>) {
  const { operations: chosen } = draft;
  const groups = new Map<string, Option[]>(operations.map(({ group }) => [group, []]));
  for (const { group, id, summary } of operations) {
    if (!chosen.includes(id)) groups.get(group)!.push([id, `${id} – ${summary}`]);
  }
  return (
    <div class="fields">
      <Choice
        label="Operation"
        value=""
        options={[['', chosen.length === 0 ? 'Any operation' : 'Add another operation']]}
        groups={groups}
        onChange={(id) => onChange({ operations: [...chosen, id] })}
      />
      <ul class="chosen" aria-label="Chosen operations">
        {chosen.map((id) => (
          <li key={id}>
            <code>{id}</code>
            <CloseButton
              label={`Remove ${id}`}
              class="small plain"
              onClick={() => onChange({ operations: chosen.filter((one) => one !== id) })}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Kinds({ draft: { name, hasOtherCodes }, offers, onChange }: PartProps) {
  const { codes, others, kinds } = offers.offered;
  const groups: [string, Option[]][] = [
    ['Error responses', codes.map(optionOf)],
    ['Error responses not specified for the operation', hasOtherCodes ? others.map(optionOf) : []],
    ['Other failures', kinds.map(optionOf)],
  ];
  return (
    <>
      <div class="fields">
        <Choice
          label="Fault"
          value={name}
          groups={groups.filter(([, options]) => options.length > 0)}
          onChange={(chosen) => onChange({ name: chosen, keys: {}, stage: '' })}
        />
        {others.length > 0 && (
          <Check
            label="Include codes that are not specified for the operation"
            isChecked={hasOtherCodes}
            onChange={() => onChange({ hasOtherCodes: !hasOtherCodes })}
          />
        )}
      </div>
      <p class="quiet about">{offers.kind?.about}</p>
    </>
  );
}

const optionOf = ({ name, status }: FaultKind): Option => [name, status === undefined ? name : `${status} ${name}`];

/**
 * Text of the choice "default" in the list of stages. A fault with conditions fires later if its conditions are only
 * known at a later stage, for example the content of a push.
 */
function defaultText({ conditions }: Draft, { defaults }: Offers): string {
  const later = conditions.some(({ value }) => value !== '') ? ', or later if a condition is known only later' : '';
  return `default: ${defaults.join(', ')}${later}`;
}
