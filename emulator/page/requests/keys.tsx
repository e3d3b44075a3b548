import { Dialog } from '../components/dialog.js';
import { Facts } from '../components/facts.js';
import { Check } from '../components/fields.js';
import { hasSingleKeys, setSingleKeys } from '../components/single-keys.js';

/** Keys of the request list, and the effect of each. */
const KEYS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [['/'], 'Go to the filter'],
  [['?'], 'Show this list of shortcuts'],
  [['↓', '↑'], 'Go to the next or the previous request of the list'],
  [['Page down', 'Page up'], 'Go 10 requests down or up'],
  [['Home', 'End'], 'Go to the first or the last request of the list'],
  [['Enter'], 'Show the details of the request'],
  [['Escape'], 'Close the details or a dialog'],
];

/** Dialog that lists the keys of the request list. A checkbox switches the single-character keys on and off. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Facts facts={KEYS.map(([keys, effect]) => [keys.flatMap((key) => [<kbd key={key}>{key}</kbd>, ' ']), effect])} />
      <Check
        label="Single keys / and ?"
        isChecked={hasSingleKeys.value}
        onChange={() => setSingleKeys(!hasSingleKeys.value)}
      />
      <p class="quiet">The keys / and ? have no effect while you type in a field.</p>
    </Dialog>
  );
}
