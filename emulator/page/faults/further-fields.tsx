import { Field } from '../components/field.js';
import { FURTHER } from './draft.js';

export interface FurtherFieldsProps {
  /** By the id of a row of `FURTHER`. */
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
}

/** What few faults need: which of the requests they meet, and for how long they are there. */
export function FurtherFields({ values, onChange }: FurtherFieldsProps) {
  return (
    <details>
      <summary>How often, and how long</summary>
      <div class="fields">
        {FURTHER.map(({ id, label, hint }) => (
          <Field key={id} label={label} hint={hint}>
            {(attributes) => (
              <input
                value={values[id] ?? ''}
                spellcheck={false}
                autocomplete="off"
                {...attributes}
                onInput={({ currentTarget }) => onChange({ ...values, [id]: currentTarget.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
}
