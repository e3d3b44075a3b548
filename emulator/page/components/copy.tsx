import { useState } from 'preact/hooks';

/** Text to copy, such as a command: selectable, with a button. */
export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  return (
    <div class="copy">
      <pre>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  );
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, say] = useState<string>();
  const copy = async () => {
    say((await written(text)) ? 'Copied' : 'Press Ctrl-C');
    setTimeout(() => say(undefined), 1500);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

/** A page that was not opened from this machine or by HTTPS has no clipboard. */
async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
