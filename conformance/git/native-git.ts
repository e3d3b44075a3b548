import { reader, writer } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import { AssertionFailure, Skip } from '../check/outcomes.js';
import type { RuleContext } from '../check/rule-context.js';
import { gitPath } from '../http/git-remote.js';
import { type GitBridge, startGitBridge } from './git-bridge.js';
import { type GitClient, LOCAL_PERSON } from './git-client.js';
import {
  createTemporaryFolder,
  expectLocalSuccess,
  type GitProcessOptions,
  type GitResult,
  nativeVersion,
  PASSWORD,
  runGit,
} from './git-process.js';

/**
 * Calls `use` with a Git client that runs this machine's `git`, with a bare repository in a temporary folder. Throws
 * `Skip` if `git` is missing or the folder cannot be created, because neither is a defect of the target. The client's
 * processes end with the rule. Waits for the rate limit do not count towards the rule's time limit.
 */
export async function withNativeGit(t: RuleContext, use: (git: GitClient) => Promise<unknown>): Promise<void> {
  await using folder = await createTemporaryFolder();
  const version = await nativeVersion(folder.path, t.stopwatch.signal);
  await using bridge = await startGitBridge(t);
  await use(await createNativeGit(t, version, folder.path, bridge));
}

async function createNativeGit(t: RuleContext, version: string, folder: string, bridge: GitBridge): Promise<GitClient> {
  const run = (args: readonly string[], options: Omit<GitProcessOptions, 'folder' | 'signal'> = {}) =>
    runGit(args, { folder, signal: t.stopwatch.signal, ...options });
  const local = async (...[args, options]: Parameters<typeof run>): Promise<Buffer> => {
    const { code, stdout, stderr } = await run(args, options);
    if (code !== 0) throw new Skip(`git ${args[0]} failed on this machine: ${stderr.trim()}`);
    return stdout;
  };
  await local(['init', '-q', '--bare', '--template=', `--initial-branch=${t.defaultBranch}`, '.']);

  /**
   * Runs a Git command that talks to the target. If the suite could not send one of its requests, throws the error of
   * that request.
   */
  const remote = async (recipe: TokenRecipe, args: readonly string[]): Promise<GitResult> => {
    bridge.authorize(recipe);
    const result = await run(args, { env: { [PASSWORD]: bridge.password } });
    const error = bridge.takeError();
    if (error !== undefined) throw error;
    expectLocalSuccess(args, result);
    return result;
  };
  const addressOf = (repo: string) => bridge.url + gitPath(repo);
  /** Describes a failed command for the report. The URL of the bridge is replaced by the target's. */
  const refusalOf = (args: readonly string[], { code, stderr }: GitResult) =>
    `git ${args.join(' ').replaceAll(bridge.url, t.target.gitUrl)}: exit code ${code}: ${stderr.replaceAll(bridge.origin, t.target.gitUrl).trim()}`;
  /** Reads an object that a fetch must have transferred. */
  const fetched = async (name: string, args: readonly string[]): Promise<Buffer> => {
    const result = await run(args);
    expectLocalSuccess(args, result);
    const { code, stdout, stderr } = result;
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
    branchOff: async (name, parent, count, seconds) => {
      const commits = Array.from({ length: count }, (_none, index) => {
        const from = index === 0 ? `from ${parent}\n` : '';
        const who = `committer ${LOCAL_PERSON.name} <${LOCAL_PERSON.email}> ${seconds + index} +0000`;
        return `commit refs/heads/${name}\n${who}\ndata 10\nKeep this\n${from}\n`;
      });
      await local(['fast-import', '--quiet'], { input: commits.join('') });
    },
    push: async (repo, refs, as = writer(repo)) => {
      const specs = refs.map((ref) => `refs/heads/${ref}:refs/heads/${ref}`);
      const command = ['push', '-q', addressOf(repo), ...specs];
      const result = await remote(as, command);
      return result.code === 0 ? undefined : refusalOf(command, result);
    },
    fetch: async (repo, ref = t.defaultBranch) => {
      const spec = ref === 'HEAD' || ref.startsWith('refs/') ? ref : `refs/heads/${ref}`;
      const command = ['fetch', '-q', '--no-tags', addressOf(repo), spec];
      const result = await remote(reader(repo), command);
      if (result.code !== 0) {
        const what = `fetching ${ref} of ${repo} with git ${version} must succeed`;
        throw new AssertionFailure(what, 'exit code 0', refusalOf(command, result));
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
  };
}
