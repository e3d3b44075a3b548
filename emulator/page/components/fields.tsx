import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

/* Labelled controls that hand over their value. Attributes without a meaning here are those of the control. */

interface Labelled {
  readonly label: ComponentChildren;
  /** Class of the label together with its control. */
  readonly fieldClass?: string | undefined;
  /** What the control takes, below it; not part of its name. */
  readonly hint?: string | undefined;
}

interface FieldProps extends Labelled {
  /** The control, with these attributes. */
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

/** Attributes of a control whose value is handed over. */
type Control<Attributes> = Omit<Attributes, keyof Labelled | 'value' | 'onChange' | 'list'> &
  Labelled & { readonly onChange: (value: string) => void };

export type TextFieldProps = Control<InputHTMLAttributes<HTMLInputElement>> & {
  readonly value: string | number;
  /** Values to choose from, besides any other. */
  readonly proposals?: readonly string[] | undefined;
};

export function TextField({ label, fieldClass, hint, onChange, proposals = [], ...attributes }: TextFieldProps) {
  return (
    <Field {...{ label, fieldClass, hint }}>
      {(own) => (
        <>
          <input
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

export type TextAreaProps = Control<TextareaHTMLAttributes<HTMLTextAreaElement>> & { readonly value: string };

export function TextArea({ label, onChange, ...attributes }: TextAreaProps) {
  return (
    <Field label={label}>
      {(own) => (
        <textarea
          {...attributes}
          {...own}
          spellcheck={false}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A value that is also its text, or a value and its text. */
export type Option = string | readonly [value: string, text: string];

export type ChoiceProps = Control<SelectHTMLAttributes<HTMLSelectElement>> & {
  readonly value: string;
  readonly options?: readonly Option[];
  /** Options below headings, after those without one. */
  readonly groups?: Iterable<readonly [heading: string, options: readonly Option[]]>;
};

/** A choice of one value. */
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

/** What a form holds, and what binds a field to a member of it. */
export function useDraft<T extends object>(initial: T) {
  const [draft, setDraft] = useState(initial);
  const write = (changes: Partial<T>) => setDraft({ ...draft, ...changes });
  const bind = <Name extends keyof T>(name: Name) => ({
    value: draft[name],
    onChange: (value: T[Name]) => setDraft({ ...draft, [name]: value }),
  });
  return { draft, write, bind };
}

/** A list with a value added, or removed if it was in the list. */
export function toggled<T>(list: readonly T[], value: T): readonly T[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}

/** The members that are neither an empty text nor an empty list: what a form sends. */
export function filled<T extends object>(members: T): Partial<T> {
  const isFilled = (value: unknown) => value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isFilled(value))) as Partial<T>;
}
