import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

/* Labelled form controls that report their value. Attributes not declared in this file are passed to the control. */

interface Labelled {
  readonly label: ComponentChildren;
  /** CSS class of the element that contains the label and the control. */
  readonly fieldClass?: string | undefined;
  /** Hint below the control. It is the accessible description of the control, not part of its accessible name. */
  readonly hint?: string | undefined;
}

interface FieldProps extends Labelled {
  /** Renders the control with the attributes that connect it to its label and its hint. */
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

/** Attributes of a form control, with a label and an `onChange` that receives the new value instead of an event. */
type Control<Attributes> = Omit<Attributes, keyof Labelled | 'value' | 'onChange' | 'list'> &
  Labelled & { readonly onChange: (value: string) => void };

export type TextFieldProps = Control<InputHTMLAttributes<HTMLInputElement>> & {
  readonly value: string | number;
  /** Values that the browser suggests while the user types; other values are allowed too. */
  readonly proposals?: readonly string[] | undefined;
  /** Number of lines and columns of a text area. Default: a field of one line. */
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

/** Option of a `<select>`: a string that is both value and text, or a value and its text. */
export type Option = string | readonly [value: string, text: string];

export type ChoiceProps = Control<SelectHTMLAttributes<HTMLSelectElement>> & {
  readonly value: string;
  readonly options?: readonly Option[];
  /** Options that are grouped under headings. They are shown after `options`, which have no heading. */
  readonly groups?: Iterable<readonly [heading: string, options: readonly Option[]]>;
};

/** Labelled `<select>` from which the user selects one value. */
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

/** Creates the state of a form, and a function that binds a field to one member of that state. */
export function useDraft<T extends object>(initial: T) {
  const [draft, setDraft] = useState(initial);
  const write = (changes: Partial<T>) => setDraft({ ...draft, ...changes });
  const bind = <Name extends keyof T>(name: Name) => ({
    value: draft[name],
    onChange: (value: T[Name]) => setDraft({ ...draft, [name]: value }),
  });
  return { draft, write, bind };
}

/** Returns a copy of a list in which a value is added if it was absent, or removed if it was present. */
export function toggled<T>(list: readonly T[], value: T): readonly T[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}

/** Returns the members of a form's state that are neither an empty string nor an empty list, to send in a request. */
export function filled<T extends object>(members: T): Partial<T> {
  const isFilled = (value: unknown) => value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isFilled(value))) as Partial<T>;
}
