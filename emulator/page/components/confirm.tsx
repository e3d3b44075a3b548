import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.js';

export interface ConfirmButtonProps {
  /** What the button and the one that confirms say: `Remove`. */
  readonly label: string;
  /** What it is about, for those who do not see where the button stands. */
  readonly subject?: string;
  /** The question. */
  readonly title: string;
  /** What comes of it. */
  readonly children: ComponentChildren;
  readonly isBusy?: boolean;
  readonly isSmall?: boolean;
  readonly act: () => void;
}

/** A button for what cannot be undone: a dialog asks first. */
export function ConfirmButton({
  label,
  subject,
  title,
  children,
  isBusy = false,
  isSmall = true,
  act,
}: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const confirm = () => {
    setAsking(false);
    act();
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
      {isAsking && (
        <Dialog title={title} onClose={() => setAsking(false)}>
          {children}
          <div class="toolbar">
            <button type="button" class="danger" onClick={confirm}>
              {label}
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
