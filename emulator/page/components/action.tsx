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

/** Button that runs one action at a time and shows its last error. */
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
  /** Text and class of the submit button. Without a text, the children contain the button. */
  readonly submit?: ComponentChildren;
  readonly submitClass?: string;
  readonly isDisabled?: boolean;
  readonly act: () => unknown;
  readonly children: ComponentChildren;
}

/** Form that is submitted by the page, once at a time, and shows its last error. */
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
  /** Label of the button and of the confirm button: `Remove`. */
  readonly label: string;
  /** Object of the action, for readers who do not see the button's context. */
  readonly subject?: string;
  /** Question in the dialog. */
  readonly title: string;
  /** Consequences of the action. */
  readonly children: ComponentChildren;
  /** Labels of the buttons in the dialog; default: the label and `Cancel`. */
  readonly answers?: readonly [yes: string, no: string];
  readonly isSmall?: boolean;
  readonly act: () => unknown;
}

/** Button for an action that cannot be undone. A dialog asks for confirmation. */
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
          <p>{children}</p>
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
