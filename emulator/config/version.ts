import { readFileSync } from 'node:fs';
import { packageFile } from '../system/package-root.js';

/** The version of this package, as its package.json has it. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
