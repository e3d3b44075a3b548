import { Field } from '../components/field.js';

export interface ValueFieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Values to choose from; with `isOpen`, values to suggest. */
  readonly choices?: readonly string[] | undefined;
  readonly isOpen?: boolean;
  /** The text of the choice of no value; without it, there is no such choice. */
  readonly empty?: string;
  readonly isNumber?: boolean;
  readonly longest?: number | undefined;
}

/** A field for one value of a fault: a list where its values are named, else a text. */
export function ValueField(props: ValueFieldProps) {
  const { label, hint, value, onInput, choices = [], isOpen = false, empty, isNumber = false, longest } = props;
  const options = choices.map((choice) => (
    <option key={choice} value={choice}>
      {choice}
    </option>
  ));
  return (
    <Field label={label} hint={hint}>
      {(attributes) =>
        options.length > 0 && !isOpen ? (
          <select value={value} onChange={({ currentTarget }) => onInput(currentTarget.value)} {...attributes}>
            {empty !== undefined && <option value="">{empty}</option>}
            {options}
          </select>
        ) : (
          <>
            <input
              value={value}
              inputMode={isNumber ? 'decimal' : 'text'}
              class={isNumber ? 'brief figures' : ''}
              spellcheck={false}
              autocomplete="off"
              {...(longest && { maxLength: longest })}
              {...(options.length > 0 && { list: `${attributes.id}-list` })}
              {...attributes}
              onInput={({ currentTarget }) => onInput(currentTarget.value)}
            />
            {options.length > 0 && <datalist id={`${attributes.id}-list`}>{options}</datalist>}
          </>
        )
      }
    </Field>
  );
}
