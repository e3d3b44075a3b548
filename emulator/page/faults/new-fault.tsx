import { useEffect, useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { Failure } from '../components/feedback.js';
import { Field } from '../components/field.js';
import { useAction } from '../components/loaded.js';
import { place } from '../place.js';
import { ConditionFields } from './condition-fields.js';
import { bodyOfDraft, type Draft, EMPTY, offersFor, settle, whenOfDraft } from './draft.js';
import { FurtherFields } from './further-fields.js';
import { KeyFields } from './key-fields.js';
import type { Fault, FaultKind, FaultKinds, Members, Operation } from './records.js';
import { SameFault } from './same-fault.js';

export interface NewFaultProps {
  readonly kinds: FaultKinds;
  readonly operations: readonly Operation[];
  readonly onAdded: () => void;
}

/** Milliseconds without typing before the emulator is asked about the fault. */
const PAUSE = 120;

/** What the address asks for: `#/faults?operation=readFile&repository=team/app&subject=ada`. */
function draftOf(params: Readonly<Record<string, string>>, { kinds, operations }: NewFaultProps): Draft {
  const wanted = (params.operation ?? '').split(',');
  const conditions = ['repository', 'subject', 'ref'].flatMap((id) =>
    params[id] ? [{ id, name: '', value: params[id] }] : [],
  );
  const draft: Draft = {
    ...EMPTY,
    ...(params.fault && { name: params.fault, keys: {} }),
    operations: operations.filter(({ id }) => wanted.includes(id)).map(({ id }) => id),
    conditions,
  };
  return settle(draft, kinds, operations);
}

/** Makes a fault of what is offered, and shows it in every form. */
export function NewFault(props: NewFaultProps) {
  const { kinds, operations, onAdded } = props;
  const { params } = place.value;
  const [draft, setDraft] = useState(() => draftOf(params, props));
  useEffect(() => setDraft(draftOf(params, props)), [JSON.stringify(params)]);
  const { fault, error: refused } = useChecked(draft);
  const { run, isBusy, error } = useAction();
  const change = (changes: Partial<Draft>) => setDraft(settle({ ...draft, ...changes }, kinds, operations));
  const offers = offersFor(draft, kinds, operations);
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      await post('faults', await requestOf(draft));
      onAdded();
    });
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
          <Count
            label="Times"
            hint="Requests it meets; empty: all"
            value={draft.times}
            onInput={(times) => change({ times })}
          />
          <Count label="Skip" hint="Requests that pass first" value={draft.skip} onInput={(skip) => change({ skip })} />
          <Field label="Stage">
            {(attributes) => (
              <select
                {...attributes}
                value={draft.stage}
                onChange={({ currentTarget }) => change({ stage: currentTarget.value })}
              >
                {offers.defaults.length > 0 && <option value="">{`default: ${offers.defaults.join(', ')}`}</option>}
                {offers.stages.map((stage) => (
                  <option key={stage} value={stage}>
                    {stage}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <StageText stages={kinds.stages} stage={draft.stage || offers.defaults} />
        <ConditionFields
          conditions={offers.conditions}
          values={draft.conditions}
          onChange={(conditions) => change({ conditions })}
        />
        <FurtherFields values={draft.further} onChange={(further) => change({ further })} />
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
      {fault && (
        <>
          <h2>The same fault, to copy</h2>
          <SameFault fault={fault} operations={operations} kinds={kinds.items} />
        </>
      )}
    </section>
  );
}

/** What `POST faults` takes of the draft: in words where these say when, and else as the emulator reads them. */
async function requestOf(draft: Draft, signal?: AbortSignal): Promise<Members> {
  const body = bodyOfDraft(draft);
  const when = whenOfDraft(draft);
  if (Object.keys(when).length === 0) return body;
  const { fault } = await post<{ fault: Fault }>('fault-checks', body, { signal });
  return { ...fault, when: { ...fault.when, ...when } };
}

/** What the emulator makes of the draft, without adding it; the last fault stays while the draft is none. */
function useChecked(draft: Draft): { readonly fault: Fault | undefined; readonly error: unknown } {
  const [checked, setChecked] = useState<{ fault?: Fault; error?: unknown }>({});
  const said = JSON.stringify([bodyOfDraft(draft), whenOfDraft(draft)]);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const check = async () => {
      try {
        const { fault } = await post<{ fault: Fault }>('fault-checks', await requestOf(draft, signal), { signal });
        if (!signal.aborted) setChecked({ fault });
      } catch (error) {
        if (!signal.aborted) setChecked({ error });
      }
    };
    const timer = setTimeout(check, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [said]);
  return { fault: checked.fault, error: checked.error };
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
  readonly offers: ReturnType<typeof offersFor>;
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

interface CountProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

function Count({ label, hint, value, onInput }: CountProps) {
  return (
    <Field label={label} hint={hint}>
      {(attributes) => (
        <input
          class="brief figures"
          inputMode="numeric"
          value={value}
          {...attributes}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </Field>
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
