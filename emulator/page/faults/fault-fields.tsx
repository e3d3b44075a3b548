import { CloseButton } from '../components/dialog.js';
import { Choice, TextField } from '../components/fields.js';
import {
  ALWAYS,
  COMPARISONS,
  type Comparison,
  type ConditionValue,
  type Draft,
  type Offers,
  offeredStages,
} from './draft.js';

/** HTML attributes of a text field for a number. */
export const NUMBER = { inputMode: 'decimal', class: 'brief figures' } as const;

interface FieldBinding {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Fields for the number of firings of a fault, and for the number of matching requests before it fires. */
export function CountFields({ times, skip }: Readonly<Record<'times' | 'skip', FieldBinding>>) {
  return (
    <>
      <TextField label="Times" hint="Maximum number of times it fires; empty: unlimited" {...NUMBER} {...times} />
      <TextField label="Skip" hint="Number of matching requests before it fires" {...NUMBER} {...skip} />
    </>
  );
}

/**
 * Properties of a component that renders a part of the form for a new fault. A fault is a rule that makes matching
 * requests fail.
 */
export interface PartProps {
  readonly draft: Draft;
  readonly offers: Offers;
  readonly onChange: (changes: Partial<Draft>) => void;
}

/**
 * Form fields for the keys (parameters) of the chosen kind of fault. If keys exclude each other, only the key that the
 * user has selected gets a field.
 */
export function KeyFields({ draft: { keys: values }, offers: { kind, keys, chosen }, onChange }: PartProps) {
  if (kind === undefined || keys.length === 0) return null;
  const write = (changed: Draft['keys']) => onChange({ keys: changed });
  const points = keys.filter(({ key }) => kind.one_of.includes(key));
  const given = points.find(({ key }) => Object.hasOwn(values, key));
  const shown = keys.filter((key) => !points.includes(key) || key === given);
  const choose = (key: string) => {
    const others = Object.entries(values).filter(([name]) => !kind.one_of.includes(name));
    const row = points.find((one) => one.key === key);
    write({ ...Object.fromEntries(others), ...(row && { [key]: row.example }) });
  };
  return (
    <div class="fields">
      {points.length > 0 && (
        <Choice
          label="Parameter"
          value={given?.key ?? ''}
          options={[['', 'default'], ...points.map(({ key }) => key)]}
          onChange={choose}
        />
      )}
      {shown.map(({ key, about, type, wants, needed, longest, values: named = [] }) => {
        const possible = named.filter((value) => offeredStages(kind, { ...values, [key]: value }, chosen).length > 0);
        const field = {
          label: key,
          hint: `${about}${needed ? ' (required)' : ''}: ${wants}`,
          value: values[key] ?? '',
          onChange: (value: string) => write({ ...values, [key]: value }),
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

/**
 * Form fields for the conditions of a fault, such as the repository. The fault fires only for requests that satisfy all
 * conditions. The operation is a condition too, but it has a separate field in the form.
 */
export function ConditionFields({ draft: { conditions: values }, offers: { conditions }, onChange }: PartProps) {
  const write = (changed: Draft['conditions']) => onChange({ conditions: changed });
  const rows = conditions.flatMap((member) =>
    values.filter(({ key }) => key === member.key).map((row) => ({ member, row })),
  );
  const added = conditions.filter(
    ({ key, name_of }) => name_of !== undefined || rows.every(({ row }) => row.key !== key),
  );
  const add = (label: string) => {
    const { key, values: named } = added.find((one) => one.label === label)!;
    write([...values, { key, name: '', value: named?.[0] ?? '' }]);
  };
  return (
    <fieldset>
      <legend>Conditions: only requests with</legend>
      <div class="fields">
        {rows.map(({ member: { name_of, label, hint, values: named }, row }, at) => {
          const change = (changes: Partial<ConditionValue>) =>
            write(values.map((one) => (one === row ? { ...row, ...changes } : one)));
          const field = { label, hint, value: row.value, onChange: (value: string) => change({ value }) };
          return (
            <div key={`${row.key} ${at}`} class="fields">
              {name_of && <TextField label={name_of} value={row.name} onChange={(name) => change({ name })} />}
              {name_of && (
                <Choice
                  label="Comparison"
                  value={row.how ?? ''}
                  options={COMPARISONS}
                  onChange={(how) => change({ how: how as Comparison })}
                />
              )}
              {named ? <Choice {...field} options={named} /> : <TextField {...field} />}
              {!ALWAYS.includes(row.key) && (
                <CloseButton
                  label={`Remove the condition ${label}`}
                  class="small"
                  onClick={() => write(values.filter((one) => one !== row))}
                />
              )}
            </div>
          );
        })}
        <Choice
          label="Add a condition"
          value=""
          options={[['', 'choose'], ...added.map(({ label }) => label)]}
          onChange={add}
        />
      </div>
    </fieldset>
  );
}
