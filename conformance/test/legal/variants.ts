import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../target/package-root.js';

interface Variant {
  readonly name: string;
  /** Values that a variant (legal alternative of server behaviour) can have. The first value is the default. */
  readonly values: readonly string[];
}

const emulator = join(packageRoot(), 'bin', 'emulator.js');
const printed = execFileSync(process.execPath, [emulator, 'variants', '--json'], { encoding: 'utf8' });
export const variants: readonly Variant[] = JSON.parse(printed);

/**
 * Returns a setting, variant name to value, in which every second variant has its first non-default value. `from` is
 * the index of the first variant that is changed. The other variants have their default.
 */
export function alternateValues(from: 0 | 1): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }, at) => [name, values[at % 2 === from ? 1 : 0] ?? '']));
}

/**
 * Returns a setting, variant name to value, in which each variant has the value at index `number`. Index 0 is the
 * default. A variant with fewer values gets its last one.
 */
export function otherValues(number: number): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }) => [name, values[number] ?? values.at(-1) ?? '']));
}
