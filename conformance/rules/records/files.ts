import { commitFiles } from '../../api/commit-pack.js';
import { fileMetadata, restore, restoreMetadata } from '../../api/requests.js';
import {
  expectMatch,
  expectOneOf,
  expectSame,
  expectStatus,
  expectSuccess,
  expectTime,
  expectTrue,
} from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { EXECUTABLE, historyRepository } from '../../fixtures/history.js';
import { mergedRepository } from '../../fixtures/merged.js';
import { patternRepository } from '../../fixtures/patterns.js';
import { newRepository } from '../../fixtures/repositories.js';
import type { JsonRecord } from '../../http/exchange.js';
import { defineRules, leftOpen, on } from '../rule.js';

async function metadata(t: RuleContext, query: Record<string, string> = {}) {
  const history = await historyRepository(t);
  const response = expectStatus(await fileMetadata(t, history.name, query), 200);
  const files = response.records('files');
  return { history, response, files, entry: (path: string) => files.find((file) => file.path === path) };
}

async function summary(t: RuleContext) {
  const { history, response } = await metadata(t);
  return { commit: response.record('commits', history.second.sha) as JsonRecord, known: history.second };
}

/** Changes some files through the API. Expects `last_commit_sha` of each file to be the commit that changed it last. */
async function readsWrittenCommits(t: RuleContext): Promise<void> {
  const { name, tip } = await newRepository(t, {
    'changed.txt': '1',
    'kept.txt': '1',
    'run.sh': '1',
    'again.txt': '1',
  });
  const expectLast = async (expected: Record<string, string>) => {
    const files = expectStatus(await fileMetadata(t, name), 200).records('files');
    const found = Object.fromEntries(files.map(({ path, last_commit_sha }) => [path, last_commit_sha]));
    expectSame(found, expected, 'last_commit_sha of each file must be the commit that last changed it');
  };
  const executable = { content: '1', mode: '100755' };
  const { sha: second } = await commitFiles(t, name, { 'changed.txt': '2', 'again.txt': null, 'run.sh': executable });
  const { sha: third } = await commitFiles(t, name, { 'again.txt': '1' });
  const last = { 'again.txt': third, 'changed.txt': second, 'kept.txt': tip, 'run.sh': second };
  await expectLast(last);
  const response = await restore(t, name, restoreMetadata(t, tip), { mustSucceed: true });
  const restored = expectSuccess(response).string('commit', 'commit_sha');
  await expectLast({ ...last, 'changed.txt': restored, 'run.sh': restored });
}

export const fileEntry = defineRules('File metadata entry', 'file-entry', [
  {
    id: 'file-entry.path.string',
    says: 'path is relative to the root of the repository; nested files are listed with their full path.',
    check: on(metadata, async (_t, { history, files }) => {
      const paths = files.map(({ path }) => path).sort();
      expectSame(paths, Object.keys(history.files).sort(), 'the listed paths must be those of the tree');
    }),
  },
  {
    id: 'file-entry.mode.regular',
    says: 'mode is the string 100644 for a regular file.',
    check: async (t) =>
      expectSame((await metadata(t)).entry('a/b.txt')?.mode, '100644', 'the mode of a regular file must be 100644'),
  },
  {
    id: 'file-entry.mode.executable',
    says: 'mode is the string 100755 for an executable file.',
    check: async (t) =>
      expectSame((await metadata(t)).entry(EXECUTABLE)?.mode, '100755', 'the mode of an executable must be 100755'),
  },
  {
    id: 'file-entry.size.number',
    says: 'size is the number of bytes in the file.',
    clauses: {
      large: 'The size of a file of more than 1 MiB is right.',
      'line-endings': 'Line endings and byte order marks count with all their bytes.',
    },
    check: on(metadata, async (t, { history, entry }) => {
      for (const [path, bytes] of Object.entries(history.files)) {
        expectSame(entry(path)?.size, bytes.length, `the size of ${path} must be its number of bytes`);
      }
      const patterns = await patternRepository(t);
      const listed = expectStatus(await fileMetadata(t, patterns.name), 200).records('files');
      const sizes = Object.fromEntries(listed.map(({ path, size }) => [path, size]));
      const expected = Object.entries(patterns.files).map(([path, bytes]) => [path, bytes.length]);
      expectSame(sizes, Object.fromEntries(expected), 'each size must be the number of bytes');
    }),
  },
  {
    id: 'file-entry.last_commit_sha.string',
    says: 'last_commit_sha is the latest commit that changed this file, which may be older than the tip.',
    writes: 'where-allowed',
    clauses: {
      merge: 'A file that a merge took unchanged from a merged branch has the commit of that branch.',
      'in-merge': 'A file whose content the merge itself changed has the merge commit.',
      reverted: 'A file with the content of an older commit has the commit that restored the content.',
      'other-branch': 'A commit that is not part of the history of the ref is not named.',
      mode: 'A commit that changes only the mode of a file has changed the file.',
      copy: 'A new file with the content of an older file has the commit that added it.',
      written: 'After a commit through the API, each file that it changed has this commit.',
      'written-mode': 'After a commit through the API that changes only a mode, the file has this commit.',
      added: 'A file that was deleted and added again with the same content has the commit that added it.',
      'restore-commit': 'A file that a restore changed has the commit of the restore.',
    },
    check: on(metadata, async (t, { history, entry }) => {
      for (const [path, sha] of Object.entries(history.touched)) {
        expectSame(
          entry(path)?.last_commit_sha,
          sha,
          `last_commit_sha of ${path} must be the commit that last changed it`,
        );
      }
      const merged = await mergedRepository(t);
      for (const [ref, touched] of [
        [t.defaultBranch, merged.touched],
        ['apart', merged.touchedApart],
      ] as const) {
        const listed = expectStatus(await fileMetadata(t, merged.name, { ref }), 200).records('files');
        const found = Object.fromEntries(listed.map(({ path, last_commit_sha }) => [path, last_commit_sha]));
        expectSame(found, touched, `last_commit_sha of each file of ${ref} must be the commit that last changed it`);
      }
      if (t.target.write) await readsWrittenCommits(t);
    }),
  },
  {
    id: 'file-entry.last_commit_sha.in-map',
    says: 'Every last_commit_sha is a key of commits.',
    check: on(metadata, async (_t, { response, files }) => {
      const commits = response.record('commits');
      expectTrue(files.length > 0, 'the list of files must not be empty');
      for (const file of files)
        expectTrue(String(file.last_commit_sha) in commits, `commits must have the last commit of ${file.path}`);
    }),
  },
  leftOpen(
    'file-entry.special-modes',
    'The specification does not say whether, or how, symbolic links and submodules are listed.',
    async (t) => {
      const { entry } = await metadata(t, { ref: 'special' });
      t.observe('link', entry('link')?.mode ?? 'not listed');
      t.observe('submodule', entry('vendor')?.mode ?? 'not listed');
    },
  ),
  {
    id: 'file-entry.only-files',
    says: 'Directories are not listed.',
    level: 'SHOULD',
    check: on(metadata, async (_t, { files }) => {
      const directories = files.filter(({ mode }) => mode === '040000' || mode === '40000');
      expectSame(directories, [], 'no entry may be a directory');
    }),
  },
]);

/**
 * Returns the commit summaries of the merged repository, for commits that last changed a file. Each comes with the
 * commit that it must show.
 */
async function mergedSummaries(t: RuleContext) {
  const { name, commits, touched } = await mergedRepository(t);
  const response = expectStatus(await fileMetadata(t, name), 200);
  const shown = new Set<string>(Object.values(touched));
  const known = commits.filter(({ sha }) => shown.has(sha));
  return known.map((one) => ({ commit: response.record('commits', one.sha) as JsonRecord, known: one }));
}

export const commitSummary = defineRules('Commit summary', 'commit-summary', [
  {
    id: 'commit-summary.keyed-by-sha',
    says: 'commits is an object whose keys are commit SHAs.',
    check: async (t) => {
      const keys = Object.keys((await metadata(t)).response.record('commits'));
      expectTrue(keys.length > 0, 'the map of commits must not be empty');
      for (const key of keys) expectMatch(key, /^[0-9a-f]{40}$/, 'each key must be a full SHA');
    },
  },
  {
    id: 'commit-summary.author',
    says: 'author is the name of the author.',
    clauses: {
      'each-commit': 'Each commit has its own author.',
      'non-ascii': 'A name that is not ASCII is kept.',
    },
    check: on(summary, async (t, { commit, known }) => {
      expectSame(commit.author, known.author.name, 'author must be the name of the author');
      for (const { commit, known } of await mergedSummaries(t))
        expectSame(commit.author, known.author.name, `author of ${known.sha} must be the name of its author`);
    }),
  },
  {
    id: 'commit-summary.date',
    says: 'date is an RFC 3339 timestamp.',
    check: async (t) => expectTime((await summary(t)).commit.date, 'date must be a valid RFC 3339 time'),
  },
  leftOpen(
    'commit-summary.date.which',
    'The specification does not say whether date is the author date or the committer date.',
    summary,
    async (t, { commit, known }) => {
      const seconds = Date.parse(String(commit.date)) / 1000;
      expectOneOf(
        seconds,
        [known.author.timestamp, known.committer.timestamp],
        'date must be the author date or the committer date',
      );
      t.observe('date', seconds === known.author.timestamp ? 'author' : 'committer');
    },
  ),
  {
    id: 'commit-summary.message.full',
    says: 'message is the full commit message, with subject and body.',
    clauses: {
      'long-lines': 'Lines of more than 100 characters are complete.',
      'long-text': 'A message of more than 1000 characters is complete.',
      paragraphs: 'Blank lines and white space at the start of lines are kept.',
    },
    check: on(summary, async (t, summary) => {
      for (const { commit, known } of [summary, ...(await mergedSummaries(t))]) {
        const message = String(commit.message).trimEnd();
        expectSame(message, known.message.trimEnd(), 'message must be the complete commit message');
      }
    }),
  },
  {
    id: 'commit-summary.dedup',
    says: 'commits has one entry for each commit that the files refer to, and no others.',
    check: on(metadata, async (_t, { response, files }) => {
      const used = [...new Set(files.map((file) => String(file.last_commit_sha)))].sort();
      expectSame(
        Object.keys(response.record('commits')).sort(),
        used,
        'the keys must be the SHAs that the files refer to',
      );
    }),
  },
]);
