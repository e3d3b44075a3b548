import type { Answer } from './answer-reader.js';
import { blame, type Compare, grep, metadata, patches } from './comparisons.js';
import { type AskFetch, depthOne, hundredCommits, oneBranch, withoutBlobs } from './fetch-questions.js';
import { fetchRequest } from './fetch-requests.js';
import type { Fixture } from './fixture.js';
import { countOutput } from './native-git.js';
import type { Remote } from './remote.js';

/** What a repository can be asked first, and what native git is asked beside it. */
export interface FirstQuestion {
  readonly id: string;
  readonly title: string;
  readonly peer: string;
  readonly bar: number;
  /** What it takes to put the question is no part of what it takes to answer it. Another one for each round. */
  readonly prepare: (fixture: Fixture) => Promise<(round: number) => Promise<PreparedQuestion>>;
}

export interface PreparedQuestion {
  readonly ask: (remote: Remote, repo: string) => Promise<Answer>;
  /** Of the repository that `git http-backend` serves, or in the fixture itself. */
  readonly askNative: (remote: Remote, repo: string) => Promise<unknown>;
}

export const FIRST_QUESTIONS: readonly FirstQuestion[] = [
  fetched('clone-branch', 'one-branch clone', 1, oneBranch),
  fetched('fetch-100', 'fetch of 100 commits', 0.5, hundredCommits),
  fetched('blob-none', 'clone with filter=blob:none', 0.5, withoutBlobs),
  fetched('clone-depth-1', 'clone of depth 1', 0.5, depthOne),
  read('metadata', 'metadata of all files', 'git log --name-only', 0.3, metadata),
  read('grep-literal', 'grep for a word', 'git grep', 0.8, grep('literal')),
  read('grep-regex', 'grep for an expression', 'git grep', 0.8, grep('expression')),
  read('blame', 'blame', 'git blame --porcelain', 0.9, blame),
  read('patches-50', 'patches of 50 commits', 'git log -p', 0.8, patches),
];

function fetched(id: string, title: string, bar: number, question: AskFetch): FirstQuestion {
  return {
    id,
    title,
    peer: 'git http-backend',
    bar,
    prepare: async (fixture) => async (round) => {
      const body = fetchRequest(await question(fixture, round));
      const ask: PreparedQuestion['ask'] = (remote, repo) => remote.git(repo, 'git-upload-pack', { body });
      return { ask, askNative: ask };
    },
  };
}

function read(id: string, title: string, peer: string, bar: number, compare: Compare): FirstQuestion {
  return {
    id,
    title,
    peer,
    bar,
    prepare: async (fixture) => {
      const { ask, command } = await compare(fixture);
      return async (round) => ({
        ask: (remote, repo) => ask(remote, repo, round),
        // 1 is git grep's word for "nothing found".
        askNative: () => countOutput(fixture.path, command(round), { accept: [0, 1] }),
      });
    },
  };
}
