import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../target/package-root.js';

interface Variant {
  readonly name: string;
  /** The first is the default. */
  readonly values: readonly string[];
}

const emulator = join(packageRoot(), 'bin', 'emulator.js');
const printed = execFileSync(process.execPath, [emulator, 'variants', '--json'], { encoding: 'utf8' });
export const variants: readonly Variant[] = JSON.parse(printed);

/** Every second variant on its first other value, from the first one or from the second. */
export function alternateValues(from: 0 | 1): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }, at) => [name, values[at % 2 === from ? 1 : 0] ?? '']));
}

/** Each variant on its other value with that number, or on its last one. */
export function otherValues(number: number): Record<string, string> {
  return Object.fromEntries(variants.map(({ name, values }) => [name, values[number] ?? values.at(-1) ?? '']));
}
