import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface FieldProps {
  readonly label: string;
  /** What it takes, below it. */
  readonly hint?: string | undefined;
  /** The control, with these attributes. */
  readonly children: (attributes: { readonly id: string; readonly 'aria-describedby'?: string }) => ComponentChildren;
}

/** A control with its label above it and a hint below it, which is not part of its name. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(hint && { 'aria-describedby': `${id}-hint` }) })}
      {hint && (
        <small id={`${id}-hint`} class="quiet">
          {hint}
        </small>
      )}
    </div>
  );
}
