import { commitFiles } from '../api/commit-pack.js';
import { archive, fileMetadata, getFile, grep, restore, restoreMetadata } from '../api/requests.js';
import type { ApiResponse } from '../check/api-response.js';
import { expectSame, expectStatus, expectSuccess, expectTrue } from '../check/expect.js';
import type { RuleContext } from '../check/rule-context.js';
import { newRepository } from '../fixtures/repositories.js';
import { defined } from '../target/json.js';
import { readPaths } from './archive/tar.js';
import { defineWritingRules, type RuleRow, type Section } from './rule.js';
import { matchesOf } from './search/found.js';

type Files = Readonly<Record<string, string>>;

const BEFORE: Files = { 'kept.txt': 'word kept\n', 'changed.txt': 'word old\n', 'gone.txt': 'word gone\n' };
const CHANGE = { 'changed.txt': 'word new and longer\n', 'gone.txt': null, 'added.txt': 'word added\n' } as const;
const AFTER: Files = {
  'kept.txt': BEFORE['kept.txt'] as string,
  'changed.txt': CHANGE['changed.txt'],
  'added.txt': CHANGE['added.txt'],
};
const SIDE = ['word on the side\n', 'word twice on the side\n'] as const;
const PATHS = [...new Set([...Object.keys(BEFORE), ...Object.keys(AFTER)])].sort();

/**
 * Way to read all files of a repository: one API operation. `show` converts the expected files into the form that
 * `read` returns.
 */
interface Reading {
  readonly read: (t: RuleContext, repo: string, ref?: string) => Promise<unknown>;
  readonly show: (files: Files) => unknown;
}

/**
 * Reads a repository before and after each kind of write, on the default branch and on another branch. Expects each
 * read to show the files that the branch has at that time.
 */
async function readsCurrentTip(t: RuleContext, { read, show }: Reading): Promise<void> {
  const { name, tip } = await newRepository(t, BEFORE);
  const expectFiles = async (files: Files, what: string, ref?: string) =>
    expectSame(await read(t, name, ref), show(files), what);
  await expectFiles(BEFORE, 'the first commit must be read');
  await commitFiles(t, name, CHANGE);
  await expectFiles(AFTER, 'after a commit, the new tip of the default branch must be read');
  await expectFiles(BEFORE, 'after a commit, the SHA of the commit before must still be readable', tip);
  for (const text of SIDE) {
    const change = { 'kept.txt': text };
    await commitFiles(t, name, change, { target_branch: 'side', base_branch: t.defaultBranch });
    await expectFiles({ ...AFTER, ...change }, 'the current tip of the other branch must be read', 'side');
  }
  await expectFiles(AFTER, 'a commit on another branch must not change the default branch');
  expectSuccess(await restore(t, name, restoreMetadata(t, tip), { mustSucceed: true }));
  await expectFiles(BEFORE, 'after a restore, the restored files of the default branch must be read');
}

/** Returns pairs of path and value, sorted by path. `show` converts the content of a file to the value. */
const pairs = (files: Files, show: (text: string) => unknown) =>
  Object.entries(files)
    .map(([path, text]) => [path, show(text)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

const SEARCH: Reading = {
  read: async (t, repo, ref) => {
    const response = expectStatus(await grep(t, repo, { query: { pattern: 'word' }, ...defined({ ref }) }), 200);
    return pairs(Object.fromEntries(matchesOf(response).map(({ path, text }) => [path, text])), (text) => text);
  },
  show: (files) => pairs(files, (text) => text.trimEnd()),
};

const ARCHIVE: Reading = {
  read: async (t, repo, ref) => {
    const packed = readPaths(expectStatus(await archive(t, repo, defined({ ref })), 200), PATHS);
    return pairs(Object.fromEntries(packed.map(({ name, bytes }) => [name, bytes.toString()])), (text) => text);
  },
  show: (files) => pairs(files, (text) => text),
};

const METADATA: Reading = {
  read: async (t, repo, ref) => {
    const files = expectStatus(await fileMetadata(t, repo, defined({ ref })), 200).records('files');
    return files.map(({ path, size }) => [path, size]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  },
  show: (files) => pairs(files, (text) => text.length),
};

const FILE: Reading = {
  read: async (t, repo, ref) => {
    const texts: unknown[] = [];
    for (const path of PATHS) {
      const response = expectStatus(await getFile(t, repo, { path, ...defined({ ref }) }), 200, 404);
      texts.push([path, response.status === 200 ? response.text : 404]);
    }
    return texts;
  },
  show: (files) => PATHS.map((path) => [path, files[path] ?? 404]),
};

const CLAUSES = {
  'default-branch': 'A commit to the default branch is visible in the next request without ref.',
  branch: 'A commit to another branch is visible in the next request with that branch as ref.',
  sha: 'The SHA of an older commit still selects the files of that commit.',
  restore: 'A restore of the default branch is visible in the next request.',
} as const;

const DELETED = { deleted: 'A file that a commit deleted is no longer found.' } as const;

function afterWrites(
  section: Section,
  group: string,
  id: string,
  what: string,
  reading: Reading,
  more: RuleRow[] = [],
) {
  return defineWritingRules(section, group, [
    {
      id,
      says: `${what} the files that a branch has at the time of the request, also directly after a write.`,
      clauses: reading === ARCHIVE ? CLAUSES : { ...CLAUSES, ...DELETED },
      check: (t) => readsCurrentTip(t, reading),
    },
    ...more,
  ]);
}

export const searchAfterWrites = afterWrites(
  '1. Search',
  'search-after-writes',
  'grep.after-write',
  'A search reads',
  SEARCH,
);
export const metadataAfterWrites = afterWrites(
  '3. File metadata',
  'file-metadata-after-writes',
  'filemeta.after-write',
  'File metadata lists',
  METADATA,
);
export const archiveAfterWrites = afterWrites(
  '6. Archive',
  'archive-after-writes',
  'archive.after-write',
  'An archive contains',
  ARCHIVE,
);
export const fileAfterWrites = afterWrites(
  '8. Read a file',
  'read-file-after-writes',
  'file.after-write',
  'A request reads',
  FILE,
  [
    {
      id: 'file.after-write.etag',
      says: 'If-None-Match with the ETag of older content is not answered with 304.',
      level: 'SHOULD',
      check: async (t) => {
        const { name } = await newRepository(t, BEFORE);
        const read = (headers: Record<string, string> = {}): Promise<ApiResponse> =>
          getFile(t, name, { path: 'changed.txt' }, { headers });
        const etag = (await read()).header('etag');
        t.observe('ETag', etag === undefined ? 'none' : 'sent');
        if (etag === undefined) return;
        await commitFiles(t, name, CHANGE);
        const response = await read({ 'if-none-match': etag });
        expectTrue(response.status === 200, 'the response must have the new content', response.status);
        expectSame(response.text, CHANGE['changed.txt'], 'the response must have the new content');
      },
    },
  ],
);
