import type { FaultKinds } from '@emulator/admin/faults.js';
import type { OperationRecord } from '@emulator/admin/operations.js';
import { Choice, TextField } from '../components/fields.js';
import { ALWAYS, type ConditionValue, type FaultKind, offeredStages } from './draft.js';

type Values = Readonly<Record<string, string>>;

export interface KeyFieldsProps {
  readonly kind: FaultKind;
  /** Keys that are offered. */
  readonly keys: FaultKind['keys'];
  readonly chosen: readonly OperationRecord[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

/** Fields for the keys of a fault. Of mutually exclusive keys, one field is shown at a time. */
export function KeyFields({ kind, keys, chosen, values, onChange }: KeyFieldsProps) {
  const points = keys.filter(({ key }) => kind.one_of.includes(key));
  const given = points.find(({ key }) => Object.hasOwn(values, key));
  const shown = keys.filter((key) => !points.includes(key) || key === given);
  const choose = (key: string) => {
    const others = Object.entries(values).filter(([name]) => !kind.one_of.includes(name));
    const row = points.find((one) => one.key === key);
    onChange({ ...Object.fromEntries(others), ...(row && { [key]: row.example }) });
  };
  if (keys.length === 0) return null;
  return (
    <div class="fields">
      {points.length > 0 && (
        <Choice
          label="By"
          value={given?.key ?? ''}
          options={[['', 'default'], ...points.map(({ key }) => key)]}
          onChange={choose}
        />
      )}
      {shown.map(({ key, type, wants, needed, longest, values: named = [] }) => {
        const possible = named.filter((value) => offeredStages(kind, { ...values, [key]: value }, chosen).length > 0);
        const field = {
          label: key,
          hint: needed ? `needed: ${wants}` : wants,
          value: values[key] ?? '',
          onChange: (value: string) => onChange({ ...values, [key]: value }),
        };
        const id = `${kind.name} ${key}`;
        return type === 'choice' ? (
          <Choice key={id} {...field} options={[['', needed ? 'choose' : 'default'], ...possible]} />
        ) : (
          <TextField key={id} {...field} proposals={possible} maxLength={longest} />
        );
      })}
    </div>
  );
}

export interface ConditionFieldsProps {
  readonly conditions: FaultKinds['members'];
  readonly values: readonly ConditionValue[];
  readonly onChange: (values: readonly ConditionValue[]) => void;
}

/** Fields for the conditions of a fault, besides the operation. */
export function ConditionFields({ conditions, values, onChange }: ConditionFieldsProps) {
  const rows = conditions.flatMap((member) =>
    values.filter(({ key }) => key === member.key).map((row) => ({ member, row })),
  );
  const added = conditions.filter(
    ({ key, name_of }) => name_of !== undefined || rows.every(({ row }) => row.key !== key),
  );
  const add = (label: string) => {
    const { key, values: named } = added.find((one) => one.label === label)!;
    onChange([...values, { key, name: '', value: named?.[0] ?? '' }]);
  };
  return (
    <fieldset>
      <legend>Only requests with</legend>
      <div class="fields">
        {rows.map(({ member: { name_of, label, hint, values: named }, row }, at) => {
          const change = (changes: Partial<ConditionValue>) =>
            onChange(values.map((one) => (one === row ? { ...row, ...changes } : one)));
          const field = { label, hint, value: row.value, onChange: (value: string) => change({ value }) };
          return (
            <div key={`${row.key} ${at}`} class="fields">
              {name_of && <TextField label={name_of} value={row.name} onChange={(name) => change({ name })} />}
              {named ? <Choice {...field} options={named} /> : <TextField {...field} />}
              {!ALWAYS.includes(row.key) && (
                <button
                  type="button"
                  class="small"
                  aria-label={`Without ${label}`}
                  onClick={() => onChange(values.filter((one) => one !== row))}
                >
                  ✕
                </button>
              )}
            </div>
          );
        })}
        <Choice
          label="More"
          value=""
          options={[['', 'Add a condition'], ...added.map(({ label }) => label)]}
          onChange={add}
        />
      </div>
    </fieldset>
  );
}
