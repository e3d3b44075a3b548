import type { ConditionValue } from './draft.js';
import type { Member } from './records.js';
import { ValueField } from './value-field.js';

export interface ConditionFieldsProps {
  readonly conditions: readonly Member[];
  readonly values: readonly ConditionValue[];
  readonly onChange: (values: readonly ConditionValue[]) => void;
}

/** Conditions that are always there to fill in; the others can be added. */
const ALWAYS = ['match.repo', 'match.sub'];

/** Which requests are meant, beside their operation. */
export function ConditionFields({ conditions, values, onChange }: ConditionFieldsProps) {
  const always = ALWAYS.filter((key) => values.every((one) => one.key !== key)).map((key) => ({
    key,
    name: '',
    value: '',
  }));
  const rows = conditions.flatMap((member) =>
    [...always, ...values].filter(({ key }) => key === member.key).map((row) => ({ member, row })),
  );
  const added = conditions.filter(
    ({ key, name_of }) => name_of !== undefined || rows.every(({ row }) => row.key !== key),
  );
  const change = (row: ConditionValue, changes: Partial<ConditionValue>) => {
    const changed = { ...row, ...changes };
    onChange(values.includes(row) ? values.map((one) => (one === row ? changed : one)) : [...values, changed]);
  };
  const add = (label: string) => {
    const { key, values: named } = added.find((one) => one.label === label)!;
    onChange([...values, { key, name: '', value: named?.[0] ?? '' }]);
  };
  return (
    <fieldset>
      <legend>Only requests with</legend>
      <div class="fields">
        {rows.map(({ member, row }, at) => (
          <div key={`${row.key} ${at}`} class="fields">
            {member.name_of && (
              <ValueField label={member.name_of} value={row.name} onInput={(name) => change(row, { name })} />
            )}
            <ValueField
              label={member.label}
              hint={member.hint}
              value={row.value}
              choices={member.values}
              onInput={(value) => change(row, { value })}
            />
            {!ALWAYS.includes(row.key) && (
              <button
                type="button"
                class="small"
                aria-label={`Without ${member.label}`}
                onClick={() => onChange(values.filter((one) => one !== row))}
              >
                ✕
              </button>
            )}
          </div>
        ))}
        <ValueField
          label="More"
          value=""
          choices={added.map(({ label }) => label)}
          empty="Add a condition"
          onInput={add}
        />
      </div>
    </fieldset>
  );
}
