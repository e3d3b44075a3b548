import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The version of this package, as its package.json has it. */
export function packageVersion(): string {
  // The package by its own name: the same from sources, from dist and from an installed package.
  const file = createRequire(import.meta.url).resolve('repohost-emulator/package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
