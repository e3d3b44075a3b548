import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

/* Labelled controls that report their value. Attributes not listed here are passed to the control. */

interface Labelled {
  readonly label: ComponentChildren;
  /** Class of the label together with its control. */
  readonly fieldClass?: string | undefined;
  /** Hint below the control. It is not part of the control's accessible name. */
  readonly hint?: string | undefined;
}

interface FieldProps extends Labelled {
  /** Renders the control with these attributes. */
  readonly children: (attributes: { readonly id: string; readonly 'aria-describedby'?: string }) => ComponentChildren;
}

function Field({ label, fieldClass = '', hint, children }: FieldProps) {
  const id = useId();
  return (
    <span class={`field ${fieldClass}`}>
      <label for={id}>{label}</label>
      {children({ id, ...(hint && { 'aria-describedby': `${id}-hint` }) })}
      {hint && (
        <small id={`${id}-hint`} class="quiet">
          {hint}
        </small>
      )}
    </span>
  );
}

/** Attributes of a control that reports its value. */
type Control<Attributes> = Omit<Attributes, keyof Labelled | 'value' | 'onChange' | 'list'> &
  Labelled & { readonly onChange: (value: string) => void };

export type TextFieldProps = Control<InputHTMLAttributes<HTMLInputElement>> & {
  readonly value: string | number;
  /** Suggested values; others are allowed too. */
  readonly proposals?: readonly string[] | undefined;
  /** Size of a text area. Default: a field of one line. */
  readonly rows?: number;
  readonly cols?: number;
};

export function TextField({ label, fieldClass, hint, onChange, proposals = [], ...attributes }: TextFieldProps) {
  const Control = (attributes.rows === undefined ? 'input' : 'textarea') as 'input';
  return (
    <Field {...{ label, fieldClass, hint }}>
      {(own) => (
        <>
          <Control
            spellcheck={false}
            autocomplete="off"
            {...attributes}
            {...own}
            list={proposals.length > 0 ? `${own.id}-list` : undefined}
            onInput={({ currentTarget }) => onChange(currentTarget.value)}
          />
          {proposals.length > 0 && <datalist id={`${own.id}-list`}>{proposals.map(optionOf)}</datalist>}
        </>
      )}
    </Field>
  );
}

/** Value that is also its text, or a value and its text. */
export type Option = string | readonly [value: string, text: string];

export type ChoiceProps = Control<SelectHTMLAttributes<HTMLSelectElement>> & {
  readonly value: string;
  readonly options?: readonly Option[];
  /** Options under headings, shown after those without a heading. */
  readonly groups?: Iterable<readonly [heading: string, options: readonly Option[]]>;
};

/** Selection of one value. */
export function Choice(props: ChoiceProps) {
  const { label, fieldClass, hint, options = [], groups = [], onChange, ...attributes } = props;
  return (
    <Field {...{ label, fieldClass, hint }}>
      {(own) => (
        <select {...attributes} {...own} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          {options.map(optionOf)}
          {Array.from(groups, ([heading, members]) => (
            <optgroup key={heading} label={heading}>
              {members.map(optionOf)}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
}

function optionOf(option: Option) {
  const [value, text] = typeof option === 'string' ? [option, option] : option;
  return (
    <option key={value} value={value}>
      {text}
    </option>
  );
}

export interface CheckProps {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onChange: () => void;
}

export function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label class="inline">
      <input type="checkbox" checked={isChecked} onChange={onChange} />
      <span>{label}</span>
    </label>
  );
}

/** State of a form, with a function that binds a field to a member. */
export function useDraft<T extends object>(initial: T) {
  const [draft, setDraft] = useState(initial);
  const write = (changes: Partial<T>) => setDraft({ ...draft, ...changes });
  const bind = <Name extends keyof T>(name: Name) => ({
    value: draft[name],
    onChange: (value: T[Name]) => setDraft({ ...draft, [name]: value }),
  });
  return { draft, write, bind };
}

/** Returns the list with a value added, or removed if it was present. */
export function toggled<T>(list: readonly T[], value: T): readonly T[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}

/** Returns the members that are not an empty string or list, as a form sends them. */
export function filled<T extends object>(members: T): Partial<T> {
  const isFilled = (value: unknown) => value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isFilled(value))) as Partial<T>;
}
