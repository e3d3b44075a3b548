import { quoteWord } from '../api/shell.js';
import { Copy } from '../components/copy.js';
import { filled } from '../components/fields.js';

/** Equivalent shell commands. The words of a line follow `emulator`. */
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

/** Commands that do not contact an emulator, and so take no `--url`. */
const ALONE: readonly string[] = ['token', 'keys', 'variants'];

/**
 * Formats a command line: `npx emulator clock advance PT1H --url http://127.0.0.1:9000`. The default URL is omitted.
 */
export function emulatorLine(words: readonly string[], origin = location.origin): string {
  const isDefault = ALONE.includes(words[0]!) || origin === 'http://127.0.0.1:8080';
  return ['npx emulator', ...words.map(quoteWord), ...(isDefault ? [] : ['--url', origin])].join(' ');
}

/** Returns `--seed x` for each member that is not empty; list values are joined with commas. */
export function flags(members: Readonly<Record<string, string | readonly string[]>>): string[] {
  return Object.entries(filled(members)).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
