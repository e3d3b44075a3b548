import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Skip } from '../check/outcomes.js';
import { LOCAL_PERSON } from './git-client.js';

/**
 * Result of a Git process. `code` is its exit code. `code` is undefined if the process did not start, was ended by a
 * signal, or printed too much.
 */
export interface GitResult {
  readonly code: number | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitProcessOptions {
  /** Folder of the local repository. It is also the home folder of the process. */
  readonly folder: string;
  /** Ends the process when aborted. */
  readonly signal: AbortSignal;
  /** Data for the standard input of the process. Default: none. */
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Name of the environment variable with the password that Git sends if a server asks for it. Other users cannot read
 * this variable.
 */
export const PASSWORD = 'CONFORMANCE_GIT_PASSWORD';

/**
 * Configuration of each Git process. It makes the requests of the process independent of this machine: no configuration
 * files, no prompts, no redirects, and no pause for automatic maintenance.
 */
const CONFIGURATION: readonly (readonly [key: string, value: string])[] = Object.entries({
  'http.followRedirects': 'false',
  'http.proxy': '',
  // Git sends a larger body in chunks, after a request that only checks the credentials. The value must exceed the size
  // of a fetch request by at least 65,520 bytes. Otherwise Git would also send fetch requests in chunks, instead of
  // compressing them with gzip.
  'http.postBuffer': '100000',
  'fetch.fsckObjects': 'true',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'user.name': LOCAL_PERSON.name,
  'user.email': LOCAL_PERSON.email,
}).concat([
  ['credential.helper', ''], // Removes the credential helpers of the machine.
  ['credential.helper', `!echo "password=$${PASSWORD}"; :`],
]);

/**
 * Returns the environment of a Git process. It is that of the suite, without variables that redirect Git to another
 * repository, configuration or proxy. The home folder is replaced too, because Git 2.31 does not know
 * `GIT_CONFIG_GLOBAL`.
 */
function environment(home: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^GIT_|^XDG_CONFIG_HOME$|_proxy$/i.test(name));
  const entries = CONFIGURATION.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries([...kept, ...entries]),
    GIT_CONFIG_COUNT: String(CONFIGURATION.length),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    HOME: home,
    LC_ALL: 'C',
    ...more,
  };
}

/** Runs `git`. The promise never rejects; if the process cannot start, the `code` of the result is undefined. */
export function runGit(args: readonly string[], options: GitProcessOptions): Promise<GitResult> {
  const { folder, signal, input = '', env } = options;
  return new Promise((resolve) => {
    const settings = { cwd: folder, env: environment(folder, env), maxBuffer: MAX_OUTPUT_BYTES };
    const child = execFile('git', args, { ...settings, encoding: 'buffer' }, (error, stdout, stderr) => {
      signal.removeEventListener('abort', end);
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
      resolve({ code, stdout, stderr: stderr.toString() || (error?.message ?? '') });
    });
    const end = () => void child.kill();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    child.stdin?.on('error', () => undefined); // The process ended before it read its input.
    child.stdin?.end(input);
  });
}

/**
 * Matches an error of the operating system at the end of a line that Git printed on its own behalf, not for the remote.
 */
const LOCAL_PROBLEM =
  /^(?:fatal|error): (?!remote error).*: (?:No space left on device|Disk quota exceeded|Read-only file system|Permission denied|Too many open files|Cannot allocate memory|Input\/output error)$/m;

/**
 * Throws `Skip` if a Git process failed because of this machine and not because of the target. The process did not
 * start, was ended by a signal, or the operating system refused a file or memory.
 */
export function expectLocalSuccess([command]: readonly string[], { code, stderr }: GitResult): void {
  const [problem] = LOCAL_PROBLEM.exec(stderr) ?? [];
  if (code === undefined || (code !== 0 && problem !== undefined))
    throw new Skip(`git ${command} failed on this machine: ${problem ?? stderr.trim()}`);
}

/** Oldest supported version of Git. Earlier versions do not read configuration from `GIT_CONFIG_COUNT`. */
const MIN_VERSION = [2, 31] as const;

/** Returns the version of `git` on the PATH, such as `2.39.5`. Throws `Skip` if `git` is absent or too old. */
export async function nativeVersion(folder: string, signal: AbortSignal): Promise<string> {
  const { code, stdout } = await runGit(['--version'], { folder, signal });
  const [text, major, minor] = /(\d+)\.(\d+)(?:\.\d+)*/.exec(stdout.toString()) ?? [];
  if (code !== 0 || text === undefined) throw new Skip('git is not on the PATH, which --git-client native needs');
  const [first, second] = [Number(major), Number(minor)];
  if (first < MIN_VERSION[0] || (first === MIN_VERSION[0] && second < MIN_VERSION[1]))
    throw new Skip(`--git-client native needs git ${MIN_VERSION.join('.')} or newer; this is ${text}`);
  return text;
}

/** Paths of the temporary folders that currently exist. */
const folders = new Set<string>();

/** Removes all temporary folders when this process ends early, for example after a second SIGINT. */
function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

/** Temporary folder that only this user can read. Disposal removes it. */
export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/** Creates a temporary folder. Throws `Skip` if that fails, because the failure is not a defect of the target. */
export async function createTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'conformance-git-')).catch((error: Error) => {
    throw new Skip(`no temporary folder for git: ${error.message}`);
  });
  if (folders.size === 0) process.once('exit', removeFolders);
  folders.add(path);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      // Retry, because a process that was just ended may still create files.
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      folders.delete(path);
      if (folders.size === 0) process.off('exit', removeFolders);
    },
  };
}
