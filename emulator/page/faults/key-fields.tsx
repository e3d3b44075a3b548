import { offeredStages } from './draft.js';
import type { FaultKey, FaultKind, Operation } from './records.js';
import { ValueField } from './value-field.js';

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
  const choose = (key: string) => {
    const others = Object.entries(values).filter(([name]) => !kind.one_of.includes(name));
    const row = points.find((one) => one.key === key);
    onChange({ ...Object.fromEntries(others), ...(row && { [key]: row.example }) });
  };
  if (keys.length === 0) return null;
  return (
    <div class="fields">
      {points.length > 0 && (
        <ValueField
          label="By"
          value={given?.key ?? ''}
          choices={points.map(({ key }) => key)}
          empty="default"
          onInput={choose}
        />
      )}
      {shown.map(({ key, type, wants, needed, longest, values: named = [] }) => (
        <ValueField
          key={`${kind.name} ${key}`}
          label={key}
          hint={needed ? `needed: ${wants}` : wants}
          value={values[key] ?? ''}
          choices={named.filter((value) => offeredStages(kind, { ...values, [key]: value }, chosen).length > 0)}
          isOpen={type !== 'choice'}
          empty={needed ? 'choose' : 'default'}
          longest={longest}
          onInput={(value) => onChange({ ...values, [key]: value })}
        />
      ))}
    </div>
  );
}
