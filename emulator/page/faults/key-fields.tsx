import { Field } from '../components/field.js';
import { offeredStages } from './offers.js';
import type { FaultKey, FaultKind, Operation } from './records.js';

type Values = Readonly<Record<string, string>>;

export interface KeyFieldsProps {
  readonly kind: FaultKind;
  /** Those that are offered. */
  readonly keys: readonly FaultKey[];
  readonly chosen: readonly Operation[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

/** The keys of a fault; of those that exclude each other one at a time. */
export function KeyFields({ kind, keys, chosen, values, onChange }: KeyFieldsProps) {
  const points = keys.filter(({ key }) => kind.one_of.includes(key));
  const given = points.find(({ key }) => Object.hasOwn(values, key));
  const shown = keys.filter((key) => !points.includes(key) || key === given);
  const set = (key: string, value: string) => {
    const { [key]: _, ...others } = values;
    onChange(value === '' && key !== given?.key ? others : { ...others, [key]: value });
  };
  const choose = (key: string) => {
    const others = Object.entries(values).filter(([name]) => !kind.one_of.includes(name));
    const row = points.find((one) => one.key === key);
    onChange({ ...Object.fromEntries(others), ...(row && { [key]: row.example }) });
  };
  if (keys.length === 0) return null;
  return (
    <div class="fields">
      {points.length > 0 && (
        <Field label="By">
          {(attributes) => (
            <select
              {...attributes}
              value={given?.key ?? ''}
              onChange={({ currentTarget }) => choose(currentTarget.value)}
            >
              <option value="">default</option>
              {points.map(({ key }) => (
                <option key={key} value={key}>
                  {key}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {shown.map((key) => (
        <KeyField
          key={`${kind.name} ${key.key}`}
          row={key}
          value={values[key.key] ?? ''}
          choices={(key.values ?? []).filter(
            (value) => offeredStages(kind, { ...values, [key.key]: value }, chosen).length > 0,
          )}
          onInput={(value) => set(key.key, value)}
        />
      ))}
    </div>
  );
}

interface KeyFieldProps {
  readonly row: FaultKey;
  readonly value: string;
  /** Of the values that are named those that are possible. */
  readonly choices: readonly string[];
  readonly onInput: (value: string) => void;
}

function KeyField({ row: { key, type, wants, needed, longest }, value, choices, onInput }: KeyFieldProps) {
  return (
    <Field label={key} hint={needed ? `needed: ${wants}` : wants}>
      {(attributes) =>
        type === 'choice' ? (
          <select value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)} {...attributes}>
            <option value="">{needed ? 'choose' : 'default'}</option>
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        ) : (
          <>
            <input
              value={value}
              inputMode={
                type === 'number' ? 'decimal' : type === 'integer' && choices.length === 0 ? 'numeric' : 'text'
              }
              spellcheck={false}
              autocomplete="off"
              {...(longest && { maxLength: longest })}
              {...(choices.length > 0 && { list: `${attributes.id}-list` })}
              {...attributes}
              onInput={({ currentTarget }) => onInput(currentTarget.value)}
            />
            {choices.length > 0 && (
              <datalist id={`${attributes.id}-list`}>
                {choices.map((choice) => (
                  <option key={choice} value={choice} />
                ))}
              </datalist>
            )}
          </>
        )
      }
    </Field>
  );
}
