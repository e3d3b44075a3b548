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

/**
 * Button that runs an action. The button is disabled while the action runs, so a second click cannot repeat the action.
 * If the action fails, the error is shown beside the button.
 */
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
  /** Text and CSS class of the submit button. If the text is absent, `children` must contain the submit button. */
  readonly submit?: ComponentChildren;
  readonly submitClass?: string;
  readonly isDisabled?: boolean;
  readonly act: () => unknown;
  readonly children: ComponentChildren;
}

/**
 * Form whose submission calls `act`; the browser itself sends nothing. While `act` runs, further submissions are
 * ignored. If `act` fails, the error is shown below the form.
 */
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
  /**
   * Label of two buttons, such as `Remove`: the button that opens the dialog, and the button in the dialog that
   * confirms.
   */
  readonly label: string;
  /**
   * Object of the action, such as the id of a key. Only screen readers get it as part of the button's label. Other
   * users see the object beside the button.
   */
  readonly subject?: string;
  /** Question in the dialog. */
  readonly title: string;
  /** Text of the dialog, which describes the consequences of the action. */
  readonly children: ComponentChildren;
  /** Labels of the two buttons in the dialog; `label` and `Cancel` by default. */
  readonly answers?: readonly [yes: string, no: string];
  readonly isSmall?: boolean;
  readonly act: () => unknown;
}

/**
 * Button for an action that cannot be undone. The button opens a dialog, and the action runs only if the user confirms
 * it.
 */
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
