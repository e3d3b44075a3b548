import { createHash } from 'node:crypto';
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
  /** Offset from UTC in minutes, positive west of Greenwich, as in JavaScript's `getTimezoneOffset`. */
  readonly timezoneOffset: number;
}

/**
 * Git client with an in-memory repository: isomorphic-git on memfs. It sends its requests through the suite's HTTP
 * client.
 */
export type Git = Awaited<ReturnType<typeof createGit>>;

/** Functions that both Git clients of the suite have: isomorphic-git (`Git`) and this machine's `git`. */
export type GitClient = Pick<
  Git,
  'name' | 'writeTree' | 'writeCommit' | 'branch' | 'branchOff' | 'push' | 'fetch' | 'parents' | 'listTree' | 'readFile'
>;

/** Author and committer of commits that are made in a local repository. */
export const LOCAL_PERSON: Person = {
  name: 'Gita Local',
  email: 'gita@example.com',
  timestamp: 1_700_000_000,
  timezoneOffset: 0,
};

const DIR = '/';

export async function createGit(t: RuleContext) {
  const [{ default: git }, { createFsFromVolume, Volume }] = await Promise.all([
    import('isomorphic-git'),
    import('memfs'),
  ]);
  const volume = createFsFromVolume(new Volume());
  const fs = volume as unknown as Parameters<typeof git.init>[0]['fs'];
  const here = { fs, dir: DIR, gitdir: '/.git' };
  await git.init({ ...here, defaultBranch: t.defaultBranch });
  await git.setConfig({ ...here, path: 'remote.origin.fetch', value: '+refs/*:refs/remotes/origin/*' });

  const remote = (repo: string, recipe: TokenRecipe) => ({
    ...here,
    http: httpFor(t, recipe),
    url: `${t.target.gitUrl}${gitPath(repo)}`,
    headers: { authorization: basic(t.token(recipe)) },
  });

  /**
   * Writes a Git tree object for the files in `folder`, and its subtrees, to the local repository. Returns the id of
   * the tree. `folder` is empty for the root; otherwise it ends with a slash.
   */
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
    /** Name and version of the client, for messages. */
    name: `isomorphic-git ${git.version()}`,
    writeTree,
    writeCommit: (commit: CommitObject) => git.writeCommit({ ...here, commit }),
    branch: (name: string, value: string) => git.writeRef({ ...here, ref: `refs/heads/${name}`, value, force: true }),
    /**
     * Creates a local branch with `count` new commits on top of `parent`. All of them have the tree of `parent`.
     * `seconds`: time of the first new commit, since the epoch; each later commit adds one second.
     */
    branchOff: async (name: string, parent: string, count: number, seconds: number): Promise<void> => {
      const { tree } = (await fetched(parent, () => git.readCommit({ ...here, oid: parent }))).commit;
      let tip = parent;
      for (let index = 0; index < count; index++) {
        const who = { ...LOCAL_PERSON, timestamp: seconds + index };
        const commit = { tree, message: 'Keep this\n', parent: [tip], author: who, committer: who };
        tip = await git.writeCommit({ ...here, commit });
      }
      await git.writeRef({ ...here, ref: `refs/heads/${name}`, value: tip, force: true });
    },
    tag: (name: string, value: string) => git.writeRef({ ...here, ref: `refs/tags/${name}`, value, force: true }),
    annotatedTag: (ref: string, object: string, message: string, tagger: Person) =>
      git.annotatedTag({ ...here, ref, object, message, tagger }),
    /** Returns a pack that contains these objects of the local repository. */
    pack: async (oids: readonly string[]): Promise<Buffer> => {
      const { packfile } = await git.packObjects({ ...here, oids: [...oids] });
      return Buffer.from(packfile ?? []);
    },
    /**
     * Stores the objects of a received pack in the local repository and returns their ids. Throws `AssertionFailure` if
     * the pack is malformed.
     */
    store: async (pack: Buffer): Promise<readonly string[]> => {
      const filepath = `.git/objects/pack/pack-${createHash('sha1').update(pack).digest('hex')}.pack`;
      await volume.promises.mkdir('/.git/objects/pack', { recursive: true });
      await volume.promises.writeFile(DIR + filepath, pack);
      try {
        return (await git.indexPack({ ...here, filepath })).oids;
      } catch (error) {
        throw asFailure(error, 'the fetched pack must be well-formed');
      }
    },
    /**
     * Returns the id of the object that an annotated tag points to. Throws `AssertionFailure` if `oid` is not a tag.
     */
    tagTarget: async (oid: string): Promise<string> =>
      (await fetched(oid, () => git.readTag({ ...here, oid }))).tag.object,
    /**
     * Pushes each ref separately and stops at the first refusal. Returns the error message of the refusal; undefined if
     * the server accepts all refs.
     */
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
    /**
     * Fetches one branch into the local repository and returns the SHA of its tip. Throws `AssertionFailure` if the
     * server refuses the fetch.
     */
    fetch: async (repo: string, ref = t.defaultBranch, depth?: number): Promise<string> => {
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
        throw asFailure(error, `fetching ${ref} of ${repo} must succeed`);
      }
    },
    parents: async (sha: string): Promise<readonly string[]> =>
      (await fetched(sha, () => git.readCommit({ ...here, oid: sha }))).commit.parent,
    commit: async (sha: string) => (await fetched(sha, () => git.readCommit({ ...here, oid: sha }))).commit,
    /**
     * Returns all files of a commit in the local repository. The keys are paths; the values are mode and object id,
     * such as `100644 <oid>`.
     */
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

/**
 * Creates a local in-memory repository and fetches one ref of the target's repository `repo` into it. The result's
 * `tip` is the SHA of that ref.
 */
export async function clone(t: RuleContext, repo: string, ref?: string) {
  const git = await createGit(t);
  return { git, tip: await git.fetch(repo, ref) };
}

/** Creates a commit with one file on a branch of the local repository. Does not push it. */
export async function commitLocally(
  git: Pick<Git, 'writeTree' | 'writeCommit' | 'branch'>,
  {
    parent,
    branch,
    path = 'pushed.txt',
    text = branch,
  }: { parent: readonly string[]; branch: string; path?: string; text?: string | Buffer },
): Promise<string> {
  const who = LOCAL_PERSON;
  const tree = await git.writeTree({ [path]: text });
  const sha = await git.writeCommit({ tree, message: 'Push this\n', parent: [...parent], author: who, committer: who });
  await git.branch(branch, sha);
  return sha;
}

/** Pushes refs. Throws `AssertionFailure` if the server refuses one. `what` describes the refs in the message. */
export async function mustPush(git: Git, repo: string, refs: readonly string[], what: string): Promise<void> {
  const refusal = await git.push(repo, refs);
  if (refusal !== undefined)
    throw new AssertionFailure(`pushing ${what} must succeed`, 'every ref is accepted', refusal);
}

/**
 * Reads an object that a fetch must have transferred to the local repository. Throws `AssertionFailure` if the object
 * is absent, because the server then sent an incomplete pack.
 */
async function fetched<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw asFailure(error, `the fetched pack must contain ${name}`);
  }
}

/** Content of a commit by path. The value is the bytes of a file, or the commit SHA of a submodule. */
type Tree = Readonly<Record<string, string | Buffer>>;

/**
 * HTTP transport for isomorphic-git. It sends every request through the suite's HTTP client, so Git exchanges are
 * recorded like all others.
 */
function httpFor(t: RuleContext, recipe: TokenRecipe): HttpClient {
  return {
    request: async ({ url, method = 'GET', headers = {}, body }: GitHttpRequest): Promise<GitHttpResponse> => {
      const { origin } = new URL(url);
      const chunks: Uint8Array[] = [];
      if (body !== undefined) for await (const part of body) chunks.push(part);
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
      const options = { origin, git: true, recipe, headers: Object.fromEntries(lower) };
      const response = await t.request(
        method,
        url.slice(origin.length),
        chunks.length === 0 ? options : { ...options, body: Buffer.concat(chunks) },
      );
      return {
        url,
        method,
        statusCode: response.status,
        statusMessage: String(response.status),
        headers: response.exchange.headers as Record<string, string>,
        body: (async function* () {
          yield new Uint8Array(response.body);
        })(),
      };
    },
  };
}

function asFailure(error: unknown, what: string): unknown {
  if (isOutcome(error) || !(error instanceof Error)) return error;
  return new AssertionFailure(what, 'success', error.message);
}
