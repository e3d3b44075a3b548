import { readFileSync } from 'node:fs';
import { packageFile } from '../system/package-root.js';

/** Returns the version of this package from its `package.json`. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
}
