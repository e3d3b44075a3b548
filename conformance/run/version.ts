import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../target/package-root.js';

export { packageRoot } from '../target/package-root.js';

export function version(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return version;
}
