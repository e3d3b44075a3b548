import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/**
 * Modal dialog. The browser keeps the focus within the dialog and closes it on Escape. The focus then returns to the
 * element that had it before.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onClose={onClose}>
      <header>
        <h2 id={heading}>{title}</h2>
        <CloseButton label="Close" onClick={() => dialog.current?.close()} />
      </header>
      {children}
    </dialog>
  );
}

export interface CloseButtonProps {
  readonly label: string;
  readonly class?: string;
  readonly onClick: (event: MouseEvent) => void;
}

/** Button that closes or removes something, shown as a cross. */
export function CloseButton({ label, class: className = 'plain', onClick }: CloseButtonProps) {
  return (
    <button type="button" class={className} aria-label={label} onClick={onClick}>
      ✕
    </button>
  );
}
