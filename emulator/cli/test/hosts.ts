import type { Test } from 'tap';
import { ended, spawnCli } from '../../test/cli-process.js';

/** Host names of the service under which the clients in these tests reach the emulator. */
export const HOSTS = ['--api-host', 'api.demo.example.test', '--git-host', 'git.example.test'];
export const API = 'https://api.demo.example.test';
export const GIT = 'https://git.example.test';
export const AUTHORIZATION = '-H "Authorization: Bearer $EMULATOR_TOKEN"';

/** Runs a shell script with `emulator exec`. Returns its exit code and output. */
export async function exec(t: Test, script: string, flags: readonly string[] = HOSTS) {
  const child = spawnCli(t, ['exec', '--log', 'quiet', ...flags, '--', 'sh', '-ec', script]);
  const [code] = await ended(child);
  return { code, ...child.said };
}
