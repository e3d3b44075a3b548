import type { ComponentChildren, InputHTMLAttributes, SelectHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

/*
 * Properties of a form control with a label. `onChange` of such a control receives the new value. Attributes that this
 * file does not declare are passed on to the HTML element.
 */

interface Labelled {
  readonly label: ComponentChildren;
  /** CSS class of the element that contains the label and the control. */
  readonly fieldClass?: string | undefined;
  /**
   * Hint that is shown below the control. Screen readers announce it as the description of the control
   * (`aria-describedby`), not as part of its name.
   */
  readonly hint?: string | undefined;
}

interface FieldProps extends Labelled {
  /**
   * Renders the control. The attributes must be set on the HTML element, because they connect the control to its label
   * and hint.
   */
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

/**
 * Properties of a labelled form control. They are the attributes of the HTML element, but `onChange` receives the new
 * value instead of an event.
 */
type Control<Attributes> = Omit<Attributes, keyof Labelled | 'value' | 'onChange' | 'list'> &
  Labelled & { readonly onChange: (value: string) => void };

export type TextFieldProps = Control<InputHTMLAttributes<HTMLInputElement>> & {
  readonly value: string | number;
  /** Values that the browser suggests while the user types (`<datalist>`). The user can enter other values too. */
  readonly proposals?: readonly string[] | undefined;
  /**
   * Height in lines and width in columns of a multi-line field (`<textarea>`). If `rows` is absent, the field is a
   * one-line `<input>`.
   */
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

/**
 * Option of a `<select>`. A string is both the value and the text of the option; otherwise, it is a pair of value and
 * text.
 */
export type Option = string | readonly [value: string, text: string];

export type ChoiceProps = Control<SelectHTMLAttributes<HTMLSelectElement>> & {
  readonly value: string;
  readonly options?: readonly Option[];
  /**
   * Options of the `<select>` that are grouped under headings (`<optgroup>`). They come after `options`, which have no
   * heading.
   */
  readonly groups?: Iterable<readonly [heading: string, options: readonly Option[]]>;
};

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

/**
 * Creates the state of a form with several fields. `bind('name')` returns `value` and `onChange` for the field of one
 * member of the state. `write` changes several members together.
 */
export function useDraft<T extends object>(initial: T) {
  const [draft, setDraft] = useState(initial);
  const write = (changes: Partial<T>) => setDraft({ ...draft, ...changes });
  const bind = <Name extends keyof T>(name: Name) => ({
    value: draft[name],
    onChange: (value: T[Name]) => setDraft({ ...draft, [name]: value }),
  });
  return { draft, write, bind };
}

/** Returns a copy of a list with `value` removed if it was present, or added if it was absent. Checkboxes use it. */
export function toggled<T>(list: readonly T[], value: T): readonly T[] {
  return list.includes(value) ? list.filter((one) => one !== value) : [...list, value];
}

/**
 * Returns the members of a form's state without empty strings and empty lists. The result becomes a request body or a
 * list of command-line flags, in which empty fields must be absent.
 */
export function filled<T extends object>(members: T): Partial<T> {
  const isFilled = (value: unknown) => value !== '' && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isFilled(value))) as Partial<T>;
}
