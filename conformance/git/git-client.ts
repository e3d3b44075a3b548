import type { CommitObject, GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { reader, writer } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import { AssertionFailure, isOutcome } from '../check/outcomes.js';
import type { RuleContext } from '../check/rule-context.js';
import { basic, gitPath } from '../http/git-remote.js';
import { defined } from '../target/json.js';

export interface Person {
  readonly name: string;
  readonly email: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  /** Minutes west of Greenwich, as JavaScript counts them. */
  readonly timezoneOffset: number;
}

/** A working Git client with its repository in memory: isomorphic-git on memfs, over the suite's own HTTP client. */
export type Git = Awaited<ReturnType<typeof createGit>>;

const DIR = '/';

export async function createGit(t: RuleContext) {
  const [{ default: git }, { createFsFromVolume, Volume }] = await Promise.all([
    import('isomorphic-git'),
    import('memfs'),
  ]);
  const fs = createFsFromVolume(new Volume()) as unknown as Parameters<typeof git.init>[0]['fs'];
  const here = { fs, dir: DIR, gitdir: '/.git' };
  await git.init({ ...here, defaultBranch: 'main' });
  await git.setConfig({ ...here, path: 'remote.origin.fetch', value: '+refs/*:refs/remotes/origin/*' });

  const remote = (repo: string, recipe: TokenRecipe) => ({
    ...here,
    http: httpFor(t, recipe),
    url: `${t.target.gitUrl}${gitPath(repo)}`,
    headers: { authorization: basic(t.token(recipe)) },
  });

  /** Writes the tree of the files below `folder`, which is empty or ends with a slash. */
  const writeTree = async (files: Tree, modes: Readonly<Record<string, string>> = {}, folder = ''): Promise<string> => {
    const below = Object.keys(files).filter((path) => path.startsWith(folder));
    const names = new Set(below.map((path) => path.slice(folder.length).replace(/\/.*/s, '')));
    const tree = [];
    for (const name of names) {
      const path = folder + name;
      const data = files[path];
      const mode = data === undefined ? '040000' : (modes[path] ?? '100644');
      if (data === undefined) {
        tree.push({ path: name, mode, oid: await writeTree(files, modes, `${path}/`), type: 'tree' as const });
      } else if (mode === '160000') tree.push({ path: name, mode, oid: String(data), type: 'commit' as const });
      else {
        const oid = await git.writeBlob({ ...here, blob: Buffer.from(data as string) });
        tree.push({ path: name, mode, oid, type: 'blob' as const });
      }
    }
    return git.writeTree({ ...here, tree });
  };

  return {
    writeTree,
    writeCommit: (commit: CommitObject) => git.writeCommit({ ...here, commit }),
    branch: (name: string, value: string) => git.writeRef({ ...here, ref: `refs/heads/${name}`, value, force: true }),
    tag: (name: string, value: string) => git.writeRef({ ...here, ref: `refs/tags/${name}`, value, force: true }),
    annotatedTag: (ref: string, object: string, message: string, tagger: Person) =>
      git.annotatedTag({ ...here, ref, object, message, tagger }),
    /** Pushes refs. Returns undefined on success, otherwise what went wrong, in the server's words. */
    push: async (repo: string, refs: readonly string[], as = writer(repo)): Promise<string | undefined> => {
      for (const ref of refs) {
        try {
          const result = await git.push({ ...remote(repo, as), ref, force: false });
          if (result.ok !== true) return `${ref}: ${JSON.stringify(result.refs)}`;
        } catch (error) {
          if (isOutcome(error)) throw error;
          return `${ref}: ${error instanceof Error ? error.message : String(error)}`;
        }
      }
      return undefined;
    },
    /** Fetches one branch and gives the tip. Throws `AssertionFailure` when refused. */
    fetch: async (repo: string, ref = 'main', depth?: number): Promise<string> => {
      try {
        const result = await git.fetch({
          ...remote(repo, reader(repo)),
          ref,
          singleBranch: true,
          tags: false,
          ...defined({ depth }),
        });
        if (result.fetchHead === null) throw new Error('nothing was fetched');
        return result.fetchHead;
      } catch (error) {
        throw asFailure(error, `${ref} of ${repo} can be fetched`);
      }
    },
    parents: async (sha: string): Promise<readonly string[]> =>
      (await fetched(sha, () => git.readCommit({ ...here, oid: sha }))).commit.parent,
    commit: async (sha: string) => (await fetched(sha, () => git.readCommit({ ...here, oid: sha }))).commit,
    /** Every file below a commit: path to `mode oid`. */
    listTree: async (sha: string) => {
      const found: Record<string, string> = {};
      const { tree } = (await fetched(sha, () => git.readCommit({ ...here, oid: sha }))).commit;
      const waiting = [{ oid: tree, at: '' }];
      for (const { oid, at } of waiting) {
        for (const entry of (await fetched(oid, () => git.readTree({ ...here, oid }))).tree) {
          if (entry.type === 'tree') waiting.push({ oid: entry.oid, at: `${at}${entry.path}/` });
          else found[at + entry.path] = `${entry.mode} ${entry.oid}`;
        }
      }
      return found;
    },
    readFile: async (sha: string, path: string) =>
      Buffer.from((await fetched(`${sha}:${path}`, () => git.readBlob({ ...here, oid: sha, filepath: path }))).blob),
  };
}

/** A local repository with what one ref of the remote leads to. `tip`: what the ref names. */
export async function clone(t: RuleContext, repo: string, ref?: string) {
  const git = await createGit(t);
  return { git, tip: await git.fetch(repo, ref) };
}

/** A commit of one file on a branch of the local repository. */
export async function commitLocally(
  git: Git,
  {
    parent,
    branch,
    path = 'pushed.txt',
    text = branch,
  }: { parent: readonly string[]; branch: string; path?: string; text?: string },
): Promise<string> {
  const who = { name: 'Gita Local', email: 'gita@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 };
  const tree = await git.writeTree({ [path]: text });
  const sha = await git.writeCommit({ tree, message: 'Push this\n', parent: [...parent], author: who, committer: who });
  await git.branch(branch, sha);
  return sha;
}

/** Pushes refs that have to be accepted. */
export async function mustPush(git: Git, repo: string, refs: readonly string[], what: string): Promise<void> {
  const refusal = await git.push(repo, refs);
  if (refusal !== undefined) throw new AssertionFailure(`${what} can be pushed`, 'every ref accepted', refusal);
}

/** Reads an object that a fetch has to have brought. */
async function fetched<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw asFailure(error, `${name} came with what was fetched`);
  }
}

/** The bytes of files by their paths; of a submodule its commit. */
type Tree = Readonly<Record<string, string | Buffer>>;

/** isomorphic-git's transport on the suite's client, so that Git's exchanges are recorded like all others. */
function httpFor(t: RuleContext, recipe: TokenRecipe): HttpClient {
  return {
    request: async ({ url, method = 'GET', headers = {}, body }: GitHttpRequest): Promise<GitHttpResponse> => {
      const { origin } = new URL(url);
      const chunks: Uint8Array[] = [];
      if (body !== undefined) for await (const part of body) chunks.push(part);
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
      const options = { origin, git: true, recipe, headers: Object.fromEntries(lower) };
      const answer = await t.request(
        method,
        url.slice(origin.length),
        chunks.length === 0 ? options : { ...options, body: Buffer.concat(chunks) },
      );
      return {
        url,
        method,
        statusCode: answer.status,
        statusMessage: String(answer.status),
        headers: answer.exchange.headers as Record<string, string>,
        body: (async function* () {
          yield new Uint8Array(answer.body);
        })(),
      };
    },
  };
}

function asFailure(error: unknown, what: string): unknown {
  if (isOutcome(error) || !(error instanceof Error)) return error;
  return new AssertionFailure(what, 'success', error.message);
}
