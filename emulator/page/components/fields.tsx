import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

/* Labelled controls that hand over their value. Attributes without a meaning here are those of the control. */

interface Labelled<Value> {
  readonly label: ComponentChildren;
  readonly labelClass?: string;
  readonly onChange: (value: Value) => void;
}

type Own = 'label' | 'value' | 'onChange' | 'list';

export interface TextFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, Own>, Labelled<string> {
  readonly value: string | number;
  /** Values to choose from, besides any other. */
  readonly proposals?: readonly string[] | undefined;
}

export function TextField({ label, labelClass, value, onChange, proposals, ...attributes }: TextFieldProps) {
  const list = useId();
  return (
    <label class={labelClass}>
      {label}
      <input
        {...attributes}
        {...(proposals && { list })}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {proposals && (
        <datalist id={list}>
          {proposals.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  );
}

export interface TextAreaProps extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, Own>, Labelled<string> {
  readonly value: string;
}

export function TextArea({ label, labelClass, onChange, ...attributes }: TextAreaProps) {
  return (
    <label class={labelClass}>
      {label}
      <textarea {...attributes} spellcheck={false} onInput={({ currentTarget }) => onChange(currentTarget.value)} />
    </label>
  );
}

/** A value that is also its text, or a value and its text. */
export type Option = string | readonly [value: string, text: string];

export interface ChoiceProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, Own>, Labelled<string> {
  readonly value: string;
  readonly options: readonly Option[];
}

/** A choice of one value; further options, in groups, are its children. */
export function Choice({ label, labelClass, options, onChange, children, ...attributes }: ChoiceProps) {
  return (
    <label class={labelClass}>
      {label}
      <select {...attributes} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(optionOf)}
        {children}
      </select>
    </label>
  );
}

export function optionOf(option: Option) {
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
