import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../target/package-root.js';

interface Variant {
  readonly name: string;
  /** Values of a variant (switch between legal behaviours). The default is the first. */
  readonly values: readonly string[];
}

const emulator = join(packageRoot(), 'bin', 'emulator.js');
const printed = execFileSync(process.execPath, [emulator, 'variants', '--json'], { encoding: 'utf8' });
export const variants: readonly Variant[] = JSON.parse(printed);

/**
 * Returns a value for each variant (switch between legal behaviours), by name. Every second variant gets its first
 * non-default value, and the others get their default. `from` is the index of the first changed variant.
 */
export function alternateValues(from: 0 | 1): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }, at) => [name, values[at % 2 === from ? 1 : 0] ?? '']));
}

/**
 * Returns a value for each variant (switch between legal behaviours), by name. `number` is the index of the value, 0
 * for the default. A variant with fewer values gets its last value.
 */
export function otherValues(number: number): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }) => [name, values[number] ?? values.at(-1) ?? '']));
}
