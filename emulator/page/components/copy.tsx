import { useRef, useState } from 'preact/hooks';
import { Dialog } from './dialog.js';

/** Visible text that the user can copy, such as a shell command, with a copy button. */
export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const shown = useRef<HTMLElement>(null);
  return (
    <div class="copy">
      <pre>
        <code ref={shown}>{text}</code>
      </pre>
      <CopyButton text={text} label={label} shown={shown} />
    </div>
  );
}

export interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  /**
   * Element that already shows the text. Its text is selected if the page cannot use the clipboard. Without this
   * element, a dialog shows the text instead.
   */
  readonly shown?: { readonly current: HTMLElement | null };
}

/**
 * Button that copies a text. If the page cannot use the clipboard, the button selects the text, so that the user can
 * copy it with the keyboard. Browsers refuse the clipboard to a page that is served over plain HTTP from another
 * machine.
 */
export function CopyButton({ text, label = 'Copy', shown }: CopyButtonProps) {
  const [said, say] = useState<string>();
  const [isShown, show] = useState(false);
  const copy = async () => {
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    if (isCopied) {
      say('Copied');
      setTimeout(() => say(undefined), 1500);
    } else if (shown?.current) {
      getSelection()?.selectAllChildren(shown.current);
      say(BY_KEYS);
    } else show(true);
  };
  return (
    <>
      <button type="button" class="small" onClick={() => void copy()}>
        <span aria-live="polite">{said ?? label}</span>
      </button>
      {isShown && (
        <Dialog title={BY_KEYS} onClose={() => show(false)}>
          <textarea aria-label="Text to copy" class="to-copy" readOnly rows={10} value={text} ref={selectAll} />
        </Dialog>
      )}
    </>
  );
}

const BY_KEYS = 'Selected: press Ctrl+C';

/**
 * Selects the text of a text area in a dialog. The selection is delayed with `setTimeout`, because the dialog opens
 * only after the text area has been added to the document.
 */
function selectAll(area: HTMLTextAreaElement | null): void {
  if (area) setTimeout(() => area.select());
}
