import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.js';
import { Failure, useAction } from './loaded.js';

export interface ActionButtonProps {
  readonly class?: string;
  readonly title?: string;
  readonly isDisabled?: boolean;
  readonly act: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** A button that does one thing at a time, and what went wrong with it last. */
export function ActionButton({ isDisabled = false, act, ...attributes }: ActionButtonProps) {
  const { run, isBusy, error } = useAction();
  return (
    <>
      <button type="button" disabled={isBusy || isDisabled} onClick={() => run(act)} {...attributes} />
      <Failure error={error} />
    </>
  );
}

export interface FormProps {
  readonly class?: string;
  /** Text and class of the button that submits. Without a text, the button is one of the children. */
  readonly submit?: ComponentChildren;
  readonly submitClass?: string;
  readonly isDisabled?: boolean;
  readonly act: () => unknown;
  readonly children: ComponentChildren;
}

/** A form that the page itself submits, one time after the other, and what went wrong with it last. */
export function Form({ class: className, submit, submitClass, isDisabled = false, act, children }: FormProps) {
  const { run, isBusy, error } = useAction();
  const perform = (event: Event) => {
    event.preventDefault();
    run(async () => act());
  };
  return (
    <>
      <form class={className} onSubmit={perform}>
        {children}
        {submit !== undefined && (
          <button type="submit" class={submitClass} disabled={isBusy || isDisabled}>
            {submit}
          </button>
        )}
      </form>
      <Failure error={error} />
    </>
  );
}

export interface ConfirmButtonProps {
  /** What the button and the one that confirms say: `Remove`. */
  readonly label: string;
  /** What it is about, for those who do not see where the button stands. */
  readonly subject?: string;
  /** The question. */
  readonly title: string;
  /** What comes of it. */
  readonly children: ComponentChildren;
  /** What the buttons in the dialog say; default: the label and `Cancel`. */
  readonly answers?: readonly [yes: string, no: string];
  readonly isSmall?: boolean;
  readonly act: () => unknown;
}

/** A button for what cannot be undone: a dialog asks first. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, subject, title, children, answers: [yes, no] = [label, 'Cancel'], act } = props;
  const { isSmall = true } = props;
  const { run, isBusy, error } = useAction();
  const [isAsking, setAsking] = useState(false);
  const confirm = () => {
    setAsking(false);
    run(async () => act());
  };
  return (
    <>
      <button
        type="button"
        class={isSmall ? 'small danger' : 'danger'}
        disabled={isBusy}
        onClick={() => setAsking(true)}
      >
        {label}…{subject !== undefined && <span class="visually-hidden"> {subject}</span>}
      </button>
      <Failure error={error} />
      {isAsking && (
        <Dialog title={title} onClose={() => setAsking(false)}>
          {children}
          <div class="toolbar">
            <button type="button" class="danger" onClick={confirm}>
              {yes}
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              {no}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
