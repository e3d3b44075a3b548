import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';

const run = promisify(execFile);

/**
 * Environment variables for Git that disable the machine's configuration, so that tests give the same result
 * everywhere.
 */
export const ENVIRONMENT = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** Creates an empty temporary folder and deletes it after the test. */
export async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'page-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/**
 * Runs a command in the folder `cwd`, and returns its standard output. `cwd` is also the home folder. Rejects if the
 * command fails.
 */
export async function command(cwd: string, name: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(name, args, { cwd, env: { ...ENVIRONMENT, HOME: cwd } });
  return stdout;
}
