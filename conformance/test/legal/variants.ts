import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../target/package-root.js';

interface Variant {
  readonly name: string;
  /** Values of the variant. The first is the default. */
  readonly values: readonly string[];
}

const emulator = join(packageRoot(), 'bin', 'emulator.js');
const printed = execFileSync(process.execPath, [emulator, 'variants', '--json'], { encoding: 'utf8' });
export const variants: readonly Variant[] = JSON.parse(printed);

/** Sets every second variant to its first non-default value, beginning with the first or the second variant. */
export function alternateValues(from: 0 | 1): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }, at) => [name, values[at % 2 === from ? 1 : 0] ?? '']));
}

/** Sets each variant to its non-default value with that number, or to its last one. */
export function otherValues(number: number): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }) => [name, values[number] ?? values.at(-1) ?? '']));
}
