import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORMAT } from '../report/results.js';
import { packageRoot } from '../target/package-root.js';

export { packageRoot } from '../target/package-root.js';

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return version;
}

/**
 * Returns the members with which every report begins: versions, start time and duration. `started` and `now` are in
 * milliseconds since the epoch.
 */
export function beginReport(started: number, now: number) {
  return {
    format: FORMAT,
    suite: { name: 'repohost-emulator conformance', version: packageVersion() },
    specification: '1.0.0',
    started_at: new Date(started).toISOString(),
    milliseconds: now - started,
  } as const;
}
