import { useEffect, useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { Field } from '../components/field.js';
import { Failure, useAction } from '../components/loaded.js';
import { ConditionFields } from './condition-fields.js';
import { type Draft, EMPTY, type Offers, offersFor, settle, specOf } from './draft.js';
import { KeyFields } from './key-fields.js';
import type { FaultForm, FaultForms, FaultKind, FaultKinds, FaultRecord, Operation } from './records.js';
import { Forms } from './same-fault.js';
import { ValueField } from './value-field.js';

export interface NewFaultProps {
  readonly kinds: FaultKinds;
  readonly operations: readonly Operation[];
  /** What the form begins with. */
  readonly initial: Draft;
  readonly onAdded: (fault: FaultRecord) => void;
}

/** Milliseconds without typing before the emulator is asked about the fault. */
const PAUSE = 120;

/** Makes a fault of what is offered, and shows it in every form. */
export function NewFault({ kinds, operations, initial, onAdded }: NewFaultProps) {
  const [draft, setDraft] = useState(() => settle(initial, kinds, operations));
  const spec = specOf(draft);
  const { forms, error: refused } = useForms(spec);
  const { run, isBusy, error } = useAction();
  const change = (changes: Partial<Draft>) => setDraft(settle({ ...draft, ...changes }, kinds, operations));
  const offers = offersFor(draft, kinds, operations);
  const submit = (event: Event) => {
    event.preventDefault();
    run(() => post<FaultRecord>('faults', { spec }).then(onAdded));
  };
  return (
    <section aria-labelledby="new-fault">
      <h2 id="new-fault">New fault</h2>
      <form class="card new-fault" noValidate onSubmit={submit}>
        <Operations
          operations={operations}
          chosen={draft.operations}
          onChange={(chosen) => change({ operations: chosen })}
        />
        <Kinds draft={draft} offers={offers} onChange={change} />
        {offers.kind && (
          <KeyFields
            kind={offers.kind}
            keys={offers.keys}
            chosen={offers.chosen}
            values={draft.keys}
            onChange={(keys) => change({ keys })}
          />
        )}
        <div class="fields">
          <ValueField
            label="Times"
            hint="Requests it meets; empty: all"
            value={draft.times}
            isNumber
            onInput={(times) => change({ times })}
          />
          <ValueField
            label="Skip"
            hint="Requests that pass first"
            value={draft.skip}
            isNumber
            onInput={(skip) => change({ skip })}
          />
          <ValueField
            label="Stage"
            value={draft.stage}
            choices={offers.stages}
            {...(offers.defaults.length > 0 && { empty: `default: ${offers.defaults.join(', ')}` })}
            onInput={(stage) => change({ stage })}
          />
        </div>
        <StageText stages={kinds.stages} stage={draft.stage || offers.defaults} />
        <ConditionFields
          conditions={offers.conditions}
          values={draft.conditions}
          onChange={(conditions) => change({ conditions })}
        />
        <details>
          <summary>How often, and how long</summary>
          <div class="fields">
            {offers.further.map(({ key, label, hint }) => (
              <ValueField
                key={key}
                label={label}
                hint={hint}
                value={draft.further[key] ?? ''}
                onInput={(text) => change({ further: { ...draft.further, [key]: text } })}
              />
            ))}
          </div>
        </details>
        <div class="toolbar">
          <button type="submit" class="primary" disabled={isBusy}>
            Add the fault
          </button>
          <button type="button" onClick={() => setDraft(settle(EMPTY, kinds, operations))}>
            Clear
          </button>
        </div>
        <Failure error={refused ?? error} />
      </form>
      {forms && (
        <>
          <h2>The same fault, to copy</h2>
          <Forms forms={forms} />
        </>
      )}
    </section>
  );
}

/** The forms of a draft, which the emulator reads without adding it. */
function useForms(spec: string): { readonly forms?: readonly FaultForm[]; readonly error?: unknown } {
  const [checked, setChecked] = useState<{ forms?: readonly FaultForm[]; error?: unknown }>({});
  useEffect(() => {
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

interface OperationsProps {
  readonly operations: readonly Operation[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function Operations({ operations, chosen, onChange }: OperationsProps) {
  const groups = [...new Set(operations.map(({ group }) => group))];
  return (
    <div class="fields">
      <Field label="Operation">
        {(attributes) => (
          <select
            value=""
            {...attributes}
            onChange={({ currentTarget }) => {
              if (currentTarget.value !== '') onChange([...chosen, currentTarget.value]);
              currentTarget.value = '';
            }}
          >
            <option value="">{chosen.length === 0 ? 'Any operation' : 'Add another operation'}</option>
            {groups.map((group) => (
              <optgroup key={group} label={group}>
                {operations
                  .filter((one) => one.group === group && !chosen.includes(one.id))
                  .map(({ id, summary }) => (
                    <option key={id} value={id}>
                      {`${id} – ${summary}`}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
        )}
      </Field>
      <ul class="chosen" aria-label="Chosen operations">
        {chosen.map((id) => (
          <li key={id}>
            <code>{id}</code>
            <button
              type="button"
              class="small plain"
              aria-label={`Without ${id}`}
              onClick={() => onChange(chosen.filter((one) => one !== id))}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface KindsProps {
  readonly draft: Draft;
  readonly offers: Offers;
  readonly onChange: (changes: Partial<Draft>) => void;
}

function Kinds({ draft, offers, onChange }: KindsProps) {
  const { codes, others, kinds } = offers.offered;
  return (
    <>
      <div class="fields">
        <Field label="Fault">
          {(attributes) => (
            <select
              value={draft.name}
              {...attributes}
              onChange={({ currentTarget }) => onChange({ name: currentTarget.value, keys: {}, stage: '' })}
            >
              <KindGroup label="Errors by their code" kinds={codes} />
              {draft.hasOtherCodes && <KindGroup label="Other codes" kinds={others} />}
              <KindGroup label="What happens to the answer" kinds={kinds} />
            </select>
          )}
        </Field>
        {others.length > 0 && (
          <label class="inline">
            <input
              type="checkbox"
              checked={draft.hasOtherCodes}
              onChange={({ currentTarget }) => onChange({ hasOtherCodes: currentTarget.checked })}
            />
            Codes that are not listed for it, too
          </label>
        )}
      </div>
      <p class="quiet about">{offers.kind?.about}</p>
    </>
  );
}

function KindGroup({ label, kinds }: { readonly label: string; readonly kinds: readonly FaultKind[] }) {
  return (
    <optgroup label={label}>
      {kinds.map(({ name, status }) => (
        <option key={name} value={name}>
          {status === undefined ? name : `${status} ${name}`}
        </option>
      ))}
    </optgroup>
  );
}

function StageText({
  stages,
  stage,
}: {
  readonly stages: Readonly<Record<string, string>>;
  readonly stage: string | readonly string[];
}) {
  return (
    <ul class="quiet about">
      {[stage].flat().map((one) => (
        <li key={one}>
          <code>{one}</code>: {stages[one]}
        </li>
      ))}
    </ul>
  );
}
