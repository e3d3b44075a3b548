import type { Test } from 'tap';
import { ended, spawnCli } from '../../test/cli-process.js';

/** Fixed host names of the clients in these tests. */
export const HOSTS = ['--api-host', 'api.demo.example.test', '--git-host', 'git.example.test'];
export const API = 'https://api.demo.example.test';
export const GIT = 'https://git.example.test';
export const AUTHORIZATION = '-H "Authorization: Bearer $EMULATOR_TOKEN"';

/** Runs a shell script under `emulator exec`. */
export async function exec(t: Test, script: string, flags: readonly string[] = HOSTS) {
  const child = spawnCli(t, ['exec', '--log', 'quiet', ...flags, '--', 'sh', '-ec', script]);
  const [code] = await ended(child);
  return { code, ...child.said };
}
