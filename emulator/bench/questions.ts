import { bytesOf } from '../git/object/bytes.js';
import { DELIM, FLUSH, packet } from '../smart-http/pkt-line.js';
import { ancestorBehind, type Fixture } from './fixture.js';
import { git, runGit } from './git.js';
import type { BenchResponse } from './http-client.js';
import { type Remote, succeeded } from './remote.js';

/**
 * Kind of request to a repository, such as a fetch or a diff, with the equivalent operation of native Git for
 * comparison.
 */
export interface Question {
  readonly peer: string;
  /**
   * Prepares the benchmark for a fixture. The returned function prepares the request and the Git operation of one
   * round, outside the measured time. Each round requests another commit, so that cached responses are not used.
   */
  readonly prepare: (fixture: Fixture) => Promise<(round: number) => Promise<PreparedQuestion>>;
}

export interface PreparedQuestion {
  readonly ask: (remote: Remote, repo: string) => Promise<BenchResponse>;
  /**
   * Runs the equivalent operation of native Git. It is a request to `git http-backend`, or a git command in the
   * fixture's repository.
   */
  readonly askNative: (remote: Remote, repo: string) => Promise<unknown>;
}

/**
 * Number of commits that fetch benchmarks request, one in each round. They are the newest commits of the branch, along
 * the first parents. No benchmark has as many rounds, so each round requests another commit.
 */
export const TIPS = 400;
/**
 * Number of commits that API benchmarks request, one in each round. They are the newest commits of the branch, along
 * the first parents.
 */
const API_TIPS = 20;

function at({ line }: Fixture, round: number, tips: number): string {
  return line[Math.min(round % tips, line.length - 1)]!;
}

/** Defines a Git request. The emulator and `git http-backend` receive exactly equal bytes. */
function served(service: string, write: (fixture: Fixture, round: number) => Promise<Buffer[] | undefined>): Question {
  return {
    peer: 'git http-backend',
    prepare: async (fixture) => async (round) => {
      const body = await write(fixture, round);
      const ask: PreparedQuestion['ask'] = (remote, repo) => remote.git(repo, service, body && { body });
      return { ask, askNative: ask };
    },
  };
}

/**
 * Encodes a request of Git protocol version 2 (gitprotocol-v2). Its parts are the command, capabilities, a delimiter
 * packet, arguments, and a flush packet.
 */
function request(command: string, args: readonly string[]): Buffer {
  const packetOf = (line: string) => packet(bytesOf(`${line}\n`));
  const head = [`command=${command}`, 'agent=git/2.39.5', 'object-format=sha1'].map(packetOf);
  return Buffer.concat([...head, DELIM, ...args.map(packetOf), FLUSH]);
}

/** Returns the `ls-refs` request with which git lists the server's refs before a clone. */
export function lsRefsRequest(): Buffer {
  const prefixes = ['HEAD', 'refs/heads/', 'refs/tags/'].map((prefix) => `ref-prefix ${prefix}`);
  return request('ls-refs', ['peel', 'symrefs', 'unborn', ...prefixes]);
}

/**
 * Returns the body of the last request of a git fetch. It ends the negotiation with `done`, so the response contains
 * the pack.
 */
export function fetchRequest(wants: readonly string[], haves: readonly string[], ...options: string[]): Buffer {
  const oids = [...wants.map((oid) => `want ${oid}`), ...haves.map((oid) => `have ${oid}`)];
  return request('fetch', ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta', ...options, ...oids, 'done']);
}

/**
 * Defines a fetch by a client that is `have` commits behind. If `have` is absent, the client has no commits. Each round
 * fetches another commit of the branch.
 */
function fetched(option?: 'deepen 1' | 'filter blob:none', have?: 1 | 100): Question {
  return served('git-upload-pack', async (fixture, round) => {
    const haves: string[] = [];
    if (have === 1) haves.push(at(fixture, round + 1, TIPS));
    if (have === 100) haves.push(await ancestorBehind(fixture, round % TIPS, 100));
    return [fetchRequest([at(fixture, round, TIPS)], haves, ...(option ? [option] : []))];
  });
}

/** API request, and the git command that does the same work directly in the fixture's repository. */
interface Comparison {
  readonly ask: (remote: Remote, repo: string, round: number) => Promise<BenchResponse>;
  readonly command: (round: number) => readonly string[];
}

function compared(peer: string, compare: (fixture: Fixture, tip: string) => Promise<Comparison>): Question {
  return {
    peer,
    prepare: async (fixture) => {
      const { ask, command } = await compare(fixture, fixture.line[0]!);
      return async (round) => ({
        ask: async (remote, repo) => succeeded(peer, await ask(remote, repo, round)),
        // Accepts exit code 1, with which git grep reports that it found nothing.
        askNative: () => runGit(fixture.path, command(round), { accept: [0, 1] }),
      });
    },
  };
}

function grep(kind: keyof SearchWords): Question {
  return compared('git grep', async (fixture, tip) => {
    const { [kind]: pattern } = await chooseWords(fixture);
    const json = { query: { pattern }, ref: tip, pagination: { limit: 10_000 } };
    return {
      ask: (remote, repo) => remote.api(repo, '/grep', { json }),
      command: () => ['grep', '-n', '-E', '-e', pattern, tip],
    };
  });
}

const PATCHES = 50;

/** Returns a function that requests the diffs of the newest commits of the branch, one by one. */
function patchesOf({ line }: Fixture): PreparedQuestion['ask'] {
  return async (remote, repo) => {
    let response: BenchResponse | undefined;
    for (const commit of line.slice(0, PATCHES)) {
      response = await remote.change(repo, `/diff?ref=${commit}`, { keepsBody: false });
    }
    return response!;
  };
}

export const QUESTIONS = {
  infoRefs: served('info/refs?service=git-upload-pack', async () => undefined),
  lsRefs: served('git-upload-pack', async () => [lsRefsRequest()]),
  allRefs: served('git-upload-pack', async ({ refs }) => {
    const wants = refs.map(({ oid }) => oid);
    return [fetchRequest(wants, [])];
  }),
  oneBranch: fetched(),
  withoutBlobs: fetched('filter blob:none'),
  depthOne: fetched('deepen 1'),
  oneCommit: fetched(undefined, 1),
  hundredCommits: fetched(undefined, 100),
  metadata: compared('git log --name-only', async (_fixture, tip) => ({
    ask: (remote, repo) => remote.api(repo, `/files/metadata?ref=${tip}`),
    command: () => ['log', '--name-only', '--format=%H', tip],
  })),
  grepLiteral: grep('literal'),
  grepExpression: grep('expression'),
  archive: compared('git archive', async (_fixture, tip) => ({
    ask: (remote, repo) => remote.api(repo, '/archive', { json: { ref: tip } }),
    command: () => ['archive', '--format=tar.gz', '-6', tip],
  })),
  diff: compared('git diff-tree -p', async (fixture) => ({
    ask: (remote, repo, round) => remote.api(repo, `/diff?ref=${at(fixture, round, API_TIPS)}`),
    command: (round) => ['diff-tree', '-p', '-M', '--root', at(fixture, round, API_TIPS)],
  })),
  blame: compared('git blame --porcelain', async (fixture) => {
    const file = await mostChangedFile(fixture);
    const path = encodeURIComponent(file);
    return {
      ask: (remote, repo, round) => remote.api(repo, `/blame?ref=${at(fixture, round, API_TIPS)}&path=${path}`),
      command: (round) => ['blame', '--porcelain', at(fixture, round, API_TIPS), '--', file],
    };
  }),
  patches: compared('git log -p', async (fixture, tip) => ({
    ask: patchesOf(fixture),
    command: () => ['log', '-p', '-M', '--first-parent', '-m', `-${PATCHES}`, tip],
  })),
  /** The requests of `patches`. Git runs one process for each commit, so both sides have the same number of steps. */
  patchesApart: {
    peer: `git diff-tree -p, ${PATCHES} processes`,
    prepare: async (fixture) => async () => ({
      ask: patchesOf(fixture),
      askNative: async () => {
        for (const commit of fixture.line.slice(0, PATCHES)) {
          await runGit(fixture.path, ['diff-tree', '-p', '-M', '--root', '-m', '--first-parent', commit]);
        }
      },
    }),
  },
} satisfies Record<string, Question>;

/**
 * Kinds of requests whose first execution after a push is measured. Each row has the benchmark's id and title, the
 * limit, and the kind of request.
 */
export const FIRST_QUESTIONS: readonly (readonly [id: string, title: string, bar: number, question: Question])[] = [
  ['clone-branch', 'one-branch clone', 1, QUESTIONS.oneBranch],
  ['fetch-100', 'fetch of 100 commits', 0.5, QUESTIONS.hundredCommits],
  ['blob-none', 'clone with filter=blob:none', 0.5, QUESTIONS.withoutBlobs],
  ['clone-depth-1', 'clone of depth 1', 0.5, QUESTIONS.depthOne],
  ['metadata', 'metadata of all files', 0.3, QUESTIONS.metadata],
  ['grep-literal', 'grep for a word', 0.8, QUESTIONS.grepLiteral],
  ['grep-regex', 'grep for an expression', 0.8, QUESTIONS.grepExpression],
  ['blame', 'blame', 0.8, QUESTIONS.blame],
  ['patches-50', 'patches of 50 commits', 0.8, QUESTIONS.patches],
];

/** Returns a function that sends one request of each kind in `FIRST_QUESTIONS` to a repository. */
export async function prepareFirstQuestions(
  fixture: Fixture,
  round: number,
): Promise<(remote: Remote, repo: string) => Promise<void>> {
  const prepare = async (question: Question) => (await question.prepare(fixture))(round);
  const questions = await Promise.all(FIRST_QUESTIONS.map(([, , , question]) => prepare(question)));
  return async (remote, repo) => {
    for (const { ask } of questions) await ask(remote, repo);
  };
}

/**
 * Returns the path of the file that the last 1,000 commits changed most often. Only files that exist in the newest
 * commit count.
 */
async function mostChangedFile({ path, line }: Fixture): Promise<string> {
  const present = new Set((await git(path, ['ls-tree', '-r', '--name-only', line[0]!])).split('\n'));
  const changes = await git(path, ['log', '-1000', '--name-only', '--format=', line[0]!]);
  const counts = new Map<string, number>();
  for (const file of changes.split('\n')) if (present.has(file)) counts.set(file, (counts.get(file) ?? 0) + 1);
  return [...counts].sort(([a, max], [b, more]) => more - max || (a < b ? -1 : 1))[0]![0];
}

interface SearchWords {
  /** Word that occurs in some lines of the repository's files. */
  readonly literal: string;
  /**
   * Regular expression that does not start with a literal. It is valid in RE2 (used by the emulator) and in POSIX
   * extended syntax (used by git grep).
   */
  readonly expression: string;
}

/**
 * Upper limit for the lines that a search pattern matches. All matches then fit on one page of the API, so the emulator
 * and git grep find equal lines.
 */
const MAX_LINES = 150;

/**
 * Chooses what the search benchmarks search for. The word is the first in the repository's source code that is neither
 * rare nor common. The regular expression matches similar words.
 */
export async function chooseWords({ path, line }: Fixture): Promise<SearchWords> {
  const grepAll = (...files: string[]) => git(path, ['grep', '-h', '-I', '-e', '', line[0]!, '--', ...files]);
  const lines = (await grepAll()).split('\n');
  const code = await grepAll(...['ts', 'js', 'c', 'h', 'go', 'py', 'rs', 'java'].map((ending) => `*.${ending}`));
  const isUsual = (pattern: RegExp) => {
    const count = lines.filter((line) => pattern.test(line)).length;
    return count > 10 && count < MAX_LINES;
  };
  for (const literal of new Set(code.match(/\b[a-z]+[A-Z_][A-Za-z]{5,}\b/g))) {
    const expression = `[A-Za-z]+${literal.slice(3)}[^A-Za-z]`;
    if (isUsual(new RegExp(literal)) && isUsual(new RegExp(expression))) return { literal, expression };
  }
  throw new Error(`${path} holds no word to search for`);
}
