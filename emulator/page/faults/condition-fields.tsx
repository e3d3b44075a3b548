import { Field } from '../components/field.js';
import type { Condition, ConditionValue } from './draft.js';

export interface ConditionFieldsProps {
  readonly conditions: readonly Condition[];
  readonly values: readonly ConditionValue[];
  readonly onChange: (values: readonly ConditionValue[]) => void;
}

/** Conditions that are always there to fill in; the others can be added. */
const ALWAYS = ['repository', 'subject'];

/** Which requests are meant, beside their operation. */
export function ConditionFields({ conditions, values, onChange }: ConditionFieldsProps) {
  const always = ALWAYS.filter((id) => values.every((one) => one.id !== id)).map((id) => ({ id, name: '', value: '' }));
  const rows = [...always, ...values].sort((a, b) => orderOf(conditions, a) - orderOf(conditions, b));
  const isUsed = ({ id, nameOf }: Condition) => nameOf === undefined && rows.some((row) => row.id === id);
  const change = (row: ConditionValue, changes: Partial<ConditionValue>) => {
    const changed = { ...row, ...changes };
    onChange(values.includes(row) ? values.map((one) => (one === row ? changed : one)) : [...values, changed]);
  };
  return (
    <fieldset>
      <legend>Only requests with</legend>
      <div class="fields">
        {rows.map((row, at) => (
          <ConditionField
            key={`${row.id} ${at}`}
            condition={conditions.find(({ id }) => id === row.id)!}
            row={row}
            onInput={(changes) => change(row, changes)}
            onRemove={ALWAYS.includes(row.id) ? undefined : () => onChange(values.filter((one) => one !== row))}
          />
        ))}
        <Field label="More">
          {(attributes) => (
            <select
              {...attributes}
              value=""
              onChange={({ currentTarget }) => {
                const { value: id } = currentTarget;
                const first = conditions.find((one) => one.id === id)?.values?.[0] ?? '';
                if (id !== '') onChange([...values, { id, name: '', value: first }]);
                currentTarget.value = '';
              }}
            >
              <option value="">Add a condition</option>
              {conditions
                .filter((one) => !isUsed(one))
                .map(({ id, label }) => (
                  <option key={id} value={id}>
                    {label}
                  </option>
                ))}
            </select>
          )}
        </Field>
      </div>
    </fieldset>
  );
}

function orderOf(conditions: readonly Condition[], { id }: ConditionValue): number {
  return conditions.findIndex((one) => one.id === id);
}

interface ConditionFieldProps {
  readonly condition: Condition;
  readonly row: ConditionValue;
  readonly onInput: (changes: Partial<ConditionValue>) => void;
  readonly onRemove: (() => void) | undefined;
}

function ConditionField({ condition, row, onInput, onRemove }: ConditionFieldProps) {
  const { label, hint, values, nameOf } = condition;
  return (
    <div class="fields">
      {nameOf && (
        <Field label={nameOf}>
          {(attributes) => (
            <input
              value={row.name}
              spellcheck={false}
              {...attributes}
              onInput={({ currentTarget }) => onInput({ name: currentTarget.value })}
            />
          )}
        </Field>
      )}
      <Field label={label} hint={hint}>
        {(attributes) =>
          values ? (
            <select
              value={row.value}
              onChange={({ currentTarget }) => onInput({ value: currentTarget.value })}
              {...attributes}
            >
              {values.map((value) => (
                <option key={value} value={value}>
                  {value}
                </option>
              ))}
            </select>
          ) : (
            <input
              value={row.value}
              spellcheck={false}
              autocomplete="off"
              {...attributes}
              onInput={({ currentTarget }) => onInput({ value: currentTarget.value })}
            />
          )
        }
      </Field>
      {onRemove && (
        <button type="button" class="small" aria-label={`Without ${label}`} onClick={onRemove}>
          ✕
        </button>
      )}
    </div>
  );
}
