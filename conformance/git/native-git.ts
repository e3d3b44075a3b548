import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reader, writer } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import { AssertionFailure, Skip } from '../check/outcomes.js';
import type { RuleContext } from '../check/rule-context.js';
import { gitPath } from '../http/git-remote.js';
import { startGitBridge } from './git-bridge.js';
import type { GitClient } from './git-client.js';

/** Result of a Git process. `code`: exit code, undefined if a signal ended the process or it did not start. */
interface GitResult {
  readonly code: number | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Seconds that a Git process may take on a target with low latency. */
const MAX_SECONDS = 30;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Configuration of each Git process. It keeps what the process sends independent of the machine: no configuration
 * files, no prompts, no redirects, and no pause for automatic maintenance.
 */
const CONFIGURATION: Readonly<Record<string, string>> = {
  'http.followRedirects': 'false',
  'http.proxy': '',
  'fetch.fsckObjects': 'true',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'credential.helper': '',
  'user.name': 'Gita Local',
  'user.email': 'gita@example.com',
};

/**
 * Returns the environment of a Git process: that of the suite, without variables that redirect Git to another
 * repository, configuration or proxy.
 */
function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^GIT_|_proxy$/i.test(name));
  const entries = Object.entries(CONFIGURATION).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries([...kept, ...entries]),
    GIT_CONFIG_COUNT: String(Object.keys(CONFIGURATION).length),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    LC_ALL: 'C',
    ...more,
  };
}

/** Runs `git`. The result of a process that cannot be started has no exit code. */
function runGit(
  args: readonly string[],
  options: { cwd?: string; input?: string | Buffer; env?: Readonly<Record<string, string>>; timeout?: number } = {},
): Promise<GitResult> {
  const { cwd, input = '', env, timeout = MAX_SECONDS * 1000 } = options;
  return new Promise((resolve) => {
    const settings = { env: environment(env), timeout, maxBuffer: MAX_OUTPUT_BYTES, encoding: 'buffer' as const };
    const child = execFile('git', args, { ...settings, ...(cwd !== undefined && { cwd }) }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
      resolve({ code, stdout, stderr: stderr.toString() || (error?.message ?? '') });
    });
    child.stdin?.on('error', () => undefined); // The process ended before it read its input.
    child.stdin?.end(input);
  });
}

/** Oldest version of Git that reads configuration from `GIT_CONFIG_COUNT`. */
const MIN_VERSION = [2, 31] as const;

/** Returns the version of `git` on the PATH, such as `2.39.5`. Throws `Skip` if it is absent or too old. */
export async function nativeVersion(): Promise<string> {
  const { code, stdout } = await runGit(['--version']);
  const [, version, major, minor] = /(\d+)\.(\d+)[\d.]*/.exec(stdout.toString()) ?? [];
  const text = /\d[\d.]*\d/.exec(stdout.toString())?.[0];
  if (code !== 0 || text === undefined) throw new Skip('git is not on the PATH, which --git-client native needs');
  const [first, second] = [Number(version), Number(major ?? minor)];
  if (first < MIN_VERSION[0] || (first === MIN_VERSION[0] && second < MIN_VERSION[1]))
    throw new Skip(`--git-client native needs git ${MIN_VERSION.join('.')} or newer; this is ${text}`);
  return text;
}

/**
 * Creates a Git client that runs `git` of this machine, with a bare repository in a temporary folder. Throws `Skip` if
 * git or the folder is missing, because these are no defects of the target. The caller disposes of the client, which
 * removes the folder.
 */
export async function createNativeGit(t: RuleContext): Promise<GitClient & AsyncDisposable> {
  const version = await nativeVersion();
  const folder = await mkdtemp(join(tmpdir(), 'conformance-git-')).catch((error: Error) => {
    throw new Skip(`no temporary folder for git: ${error.message}`);
  });
  const bridge = await startGitBridge(t);
  const local = async (args: readonly string[], options: Parameters<typeof runGit>[1] = {}): Promise<Buffer> => {
    const { code, stdout, stderr } = await runGit(args, { cwd: folder, ...options });
    if (code !== 0) throw new Skip(`git ${args[0]} failed on this machine: ${stderr.trim()}`);
    return stdout;
  };
  await local(['init', '-q', '--bare', `--initial-branch=${t.defaultBranch}`, '.']);

  /** Runs a command that talks to the target. Throws the error of a request, if the suite could not send it. */
  const remote = async (recipe: TokenRecipe, args: readonly string[]): Promise<GitResult> => {
    bridge.authorize(recipe);
    const timeout = t.run.latency.scale(MAX_SECONDS * 1000);
    const result = await runGit(args, { cwd: folder, timeout });
    const error = bridge.takeError();
    if (error !== undefined) throw error;
    return result;
  };
  const addressOf = (repo: string) => bridge.url + gitPath(repo);
  const refusalOf = ({ stderr }: GitResult) => stderr.replaceAll(bridge.url, '').trim();
  /** Reads an object that a fetch must have transferred. */
  const fetched = async (name: string, args: readonly string[]): Promise<Buffer> => {
    const { code, stdout, stderr } = await runGit(args, { cwd: folder });
    if (code !== 0) throw new AssertionFailure(`git ${version} must find ${name} after the fetch`, name, stderr.trim());
    return stdout;
  };
  return {
    name: `git ${version}`,
    writeTree: async (files) => {
      const entries = [];
      for (const [path, content] of Object.entries(files)) {
        const oid = (await local(['hash-object', '-w', '--stdin'], { input: content })).toString().trim();
        entries.push(`100644 blob ${oid}\t${path}\0`);
      }
      return (await local(['mktree', '-z'], { input: entries.join('') })).toString().trim();
    },
    writeCommit: async ({ tree, message, parent, author }) => {
      const date = `${author.timestamp} +0000`;
      const env = {
        ...{ GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_AUTHOR_DATE: date },
        ...{ GIT_COMMITTER_NAME: author.name, GIT_COMMITTER_EMAIL: author.email, GIT_COMMITTER_DATE: date },
      };
      const parents = parent.flatMap((sha) => ['-p', sha]);
      return (await local(['commit-tree', tree, ...parents], { env, input: message })).toString().trim();
    },
    branch: async (name, value) => {
      await local(['update-ref', `refs/heads/${name}`, value]);
    },
    push: async (repo, refs, as = writer(repo)) => {
      const specs = refs.map((ref) => `refs/heads/${ref}:refs/heads/${ref}`);
      const result = await remote(as, ['push', '-q', addressOf(repo), ...specs]);
      return result.code === 0 ? undefined : refusalOf(result);
    },
    fetch: async (repo, ref = t.defaultBranch) => {
      const spec = ref === 'HEAD' || ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
      const result = await remote(reader(repo), ['fetch', '-q', '--no-tags', addressOf(repo), spec]);
      if (result.code !== 0) {
        const what = `fetching ${ref} of ${repo} with git ${version} must succeed`;
        throw new AssertionFailure(what, 'exit code 0', refusalOf(result));
      }
      return (await local(['rev-parse', 'FETCH_HEAD'])).toString().trim();
    },
    parents: async (sha) => {
      const [, ...parents] = (await fetched(sha, ['rev-list', '--parents', '-n', '1', sha]))
        .toString()
        .trim()
        .split(' ');
      return parents;
    },
    listTree: async (sha) => {
      const lines = (await fetched(sha, ['ls-tree', '-r', '-z', sha])).toString().split('\0');
      const entries = lines.flatMap((line) => {
        const [, mode, oid, path] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
        return path === undefined ? [] : [[path, `${mode} ${oid}`] as const];
      });
      return Object.fromEntries(entries);
    },
    readFile: async (sha, path) => Buffer.from(await fetched(`${sha}:${path}`, ['cat-file', 'blob', `${sha}:${path}`])),
    [Symbol.asyncDispose]: async () => {
      await bridge[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
