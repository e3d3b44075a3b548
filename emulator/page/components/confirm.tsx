import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.js';
import { Failure } from './feedback.js';
import { useAction } from './loaded.js';

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
