import { packLines } from '../../api/commit-pack.js';
import { AUTHOR } from '../../api/requests.js';
import {
  each,
  GIT_READ,
  GIT_WRITE,
  numbers,
  type Operation,
  type OperationRequest,
  operation,
  PAGE,
  STATS,
  strings,
} from './operation.js';
import type { Shape } from './shape.js';
import type { TestRepository } from './test-repository.js';

const WRITTEN: Shape = {
  ...strings('commit.commit_sha', 'commit.tree_sha', 'commit.target_branch'),
  'commit.pack_bytes': 'number',
  ...strings('result.branch', 'result.old_sha', 'result.new_sha'),
  'result.success': 'boolean',
  'result.status': 'string',
};
const PACKED: Shape = { ...WRITTEN, 'commit.blob_count': 'number' };
const NOTE: Shape = {
  ...strings('sha', 'target_ref', 'new_ref_sha'),
  'result.success': 'boolean',
  'result.status': 'string',
};

const PATCH_TEXT = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+patched\n`;

const restored = async (repository: TestRepository): Promise<OperationRequest> => ({
  lines: [
    { metadata: { target_branch: await repository.createBranch(), target_commit_sha: repository.tip, author: AUTHOR } },
  ],
});

const COMMIT_ENTRY: Shape = { ...strings('sha', 'message'), parent_shas: 'array' };
const COMMIT: Shape = { 'commit.sha': 'string', 'commit.parent_shas': 'array' };

const commits: readonly Operation[] = [
  operation('list commits', ['GET /commits'], GIT_READ, 200, { ...each('commits', COMMIT_ENTRY), ...PAGE }),
  operation('get commit', ['GET /commit'], GIT_READ, 200, COMMIT, () => ({ query: { sha: 'main' } })),
  operation('commit diff', ['GET /diff'], GIT_READ, 200, { sha: 'string', ...STATS }, (repository) => ({
    query: { sha: repository.tip },
  })),
  operation('commit-pack', ['POST /commit-pack'], GIT_WRITE, 201, PACKED, async (repository) => ({
    lines: packLines({ 'packed.txt': 'x' }, { target_branch: await repository.createBranch() }),
  })),
  operation('diff-commit', ['POST /diff-commit'], GIT_WRITE, 201, PACKED, async (repository) => {
    const data = Buffer.from(PATCH_TEXT('patched.txt')).toString('base64');
    const metadata = { target_branch: await repository.createBranch(), commit_message: 'Patch', author: AUTHOR };
    return { lines: [{ metadata }, { diff_chunk: { data, eof: true } }] };
  }),
  operation('restore-commit', ['POST /restore-commit'], GIT_WRITE, 201, WRITTEN, restored),
  operation('reset-commits', ['POST /reset-commits'], GIT_WRITE, 201, WRITTEN, restored),
];

const readme = () => ({ query: { path: 'README.md' } });
const BLAMED_LINE: Shape = {
  ...numbers('line_number', 'original_line_number'),
  ...strings('commit_sha', 'original_path', 'author_name', 'author_email', 'author_time'),
  ...strings('committer_name', 'committer_email', 'committer_time', 'summary'),
};

const files: readonly Operation[] = [
  operation('list files', ['GET /files'], GIT_READ, 200, {
    paths: 'array',
    ref: 'string',
    ...each('entries', strings('path', 'type', 'mode')),
    ...PAGE,
  }),
  operation('file metadata', ['GET /files/metadata'], GIT_READ, 200, {
    ...each('files', { ...strings('path', 'mode', 'last_commit_sha'), size: 'number' }),
    commits: 'object',
    ref: 'string',
  }),
  operation('read file', ['GET /file'], GIT_READ, 200, {}, readme),
  operation('head file', ['HEAD /file'], GIT_READ, 200, {}, readme),
  operation(
    'blame',
    ['GET /blame'],
    GIT_READ,
    200,
    { ...strings('ref', 'path', 'commit_sha'), ...each('lines', BLAMED_LINE) },
    readme,
  ),
  operation('grep', ['POST /grep'], GIT_READ, 200, { matches: 'array', has_more: 'boolean' }, () => ({
    json: { query: { pattern: 'e' } },
  })),
  operation('archive', ['POST /archive'], GIT_READ, 200, {}),
];

const notes: readonly Operation[] = [
  operation('add note', ['POST /notes'], GIT_WRITE, [201, 200], NOTE, async (repository) => ({
    json: { sha: await repository.createCommit(), action: 'add', note: 'added' },
  })),
  operation('read note', ['GET /notes'], GIT_READ, 200, strings('sha', 'note', 'ref_sha'), async (repository) => ({
    query: { sha: await repository.createCommit('noted') },
  })),
  operation('delete note', ['DELETE /notes'], GIT_WRITE, 200, NOTE, async (repository) => ({
    json: { sha: await repository.createCommit('noted') },
  })),
  operation(
    'list notes refs',
    ['GET /notes/refs'],
    GIT_READ,
    200,
    { ...each('refs', strings('cursor', 'ref', 'sha')), prefix: 'string', ...PAGE },
    async (repository) => {
      await repository.createCommit('noted');
      return {};
    },
  ),
];

/** The operations on commits, files and notes. */
export const contentOperations: readonly Operation[] = [...commits, ...files, ...notes];
