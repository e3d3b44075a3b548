import { quoteWord } from '../api/shell.js';
import { Copy } from '../components/copy.js';
import { filled } from '../components/fields.js';

/**
 * Collapsed list of shell commands that have the effect of the form on the page. `lines` contains the arguments of each
 * command after `npx emulator`.
 */
export function Commands({ lines }: { readonly lines: readonly (readonly string[])[] }) {
  return (
    <details class="command">
      <summary>Shell commands</summary>
      {lines.map((words) => (
        <Copy key={words.join(' ')} text={emulatorLine(words)} />
      ))}
    </details>
  );
}

/** Commands without the flag `--url`. They contact no running emulator. */
const ALONE: readonly string[] = ['token', 'keys', 'variants'];

/**
 * Formats a command line for the emulator that serves the page, such as `npx emulator clock advance PT1H --url
 * http://127.0.0.1:9000`. The flag `--url` is omitted for the default address.
 */
export function emulatorLine(words: readonly string[], origin = location.origin): string {
  const isDefault = ALONE.includes(words[0]!) || origin === 'http://127.0.0.1:8080';
  return ['npx emulator', ...words.map(quoteWord), ...(isDefault ? [] : ['--url', origin])].join(' ');
}

/** Converts members to command-line flags, such as `--seed x`. Empty values are omitted; lists are joined by commas. */
export function flags(members: Readonly<Record<string, string | readonly string[]>>): string[] {
  return Object.entries(filled(members)).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
