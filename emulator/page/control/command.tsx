import { quoteWord } from '../api/shell.js';
import { Copy } from '../components/copy.js';
import { filled } from '../components/fields.js';

/** The lines that do the same from a shell; the words of each are those behind `emulator`. */
export function Commands({ lines }: { readonly lines: readonly (readonly string[])[] }) {
  return (
    <details class="command">
      <summary>From a shell</summary>
      {lines.map((words) => (
        <Copy key={words.join(' ')} text={emulatorLine(words)} />
      ))}
    </details>
  );
}

/** These ask no emulator, so that they take no address. */
const ALONE: readonly string[] = ['token', 'keys', 'variants'];

/** `npx emulator clock advance PT1H --url http://127.0.0.1:9000`: the address is left out where it is the default. */
export function emulatorLine(words: readonly string[], origin = location.origin): string {
  const isDefault = ALONE.includes(words[0]!) || origin === 'http://127.0.0.1:8080';
  return ['npx emulator', ...words.map(quoteWord), ...(isDefault ? [] : ['--url', origin])].join(' ');
}

/** `--seed x` for each member that is filled; the values of a list stand between commas. */
export function flags(members: Readonly<Record<string, string | readonly string[]>>): string[] {
  return Object.entries(filled(members)).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
