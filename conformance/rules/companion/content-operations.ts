import { packLines } from '../../api/commit-pack.js';
import { AUTHOR } from '../../api/requests.js';
import {
  each,
  gitRead,
  gitWrite,
  numbers,
  type Operation,
  type OperationRequest,
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
  gitRead('list commits', 'GET /commits', { ...each('commits', COMMIT_ENTRY), ...PAGE }),
  gitRead('get commit', 'GET /commit', COMMIT, () => ({ query: { sha: 'main' } })),
  gitRead('commit diff', 'GET /diff', { sha: 'string', ...STATS }, (repository) => ({
    query: { sha: repository.tip },
  })),
  gitWrite('commit-pack', ['POST /commit-pack', 201], PACKED, async (repository) => ({
    lines: packLines({ 'packed.txt': 'x' }, { target_branch: await repository.createBranch() }),
  })),
  gitWrite('diff-commit', ['POST /diff-commit', 201], PACKED, async (repository) => {
    const data = Buffer.from(PATCH_TEXT('patched.txt')).toString('base64');
    const metadata = { target_branch: await repository.createBranch(), commit_message: 'Patch', author: AUTHOR };
    return { lines: [{ metadata }, { diff_chunk: { data, eof: true } }] };
  }),
  gitWrite('restore-commit', ['POST /restore-commit', 201], WRITTEN, restored),
  gitWrite('reset-commits', ['POST /reset-commits', 201], WRITTEN, restored),
];

const readme = () => ({ query: { path: 'README.md' } });
const BLAMED_LINE: Shape = {
  ...numbers('line_number', 'original_line_number'),
  ...strings('commit_sha', 'original_path', 'author_name', 'author_email', 'author_time'),
  ...strings('committer_name', 'committer_email', 'committer_time', 'summary'),
};

const files: readonly Operation[] = [
  gitRead('list files', 'GET /files', {
    paths: 'array',
    ref: 'string',
    ...each('entries', strings('path', 'type', 'mode')),
    ...PAGE,
  }),
  gitRead('file metadata', 'GET /files/metadata', {
    ...each('files', { ...strings('path', 'mode', 'last_commit_sha'), size: 'number' }),
    commits: 'object',
    ref: 'string',
  }),
  gitRead('read file', 'GET /file', {}, readme),
  gitRead('head file', 'HEAD /file', {}, readme),
  gitRead('blame', 'GET /blame', { ...strings('ref', 'path', 'commit_sha'), ...each('lines', BLAMED_LINE) }, readme),
  gitRead('grep', 'POST /grep', { matches: 'array', has_more: 'boolean' }, () => ({
    json: { query: { pattern: 'e' } },
  })),
  gitRead('archive', 'POST /archive', {}),
];

const notes: readonly Operation[] = [
  gitWrite('add note', ['POST /notes', [201, 200]], NOTE, async (repository) => ({
    json: { sha: await repository.createCommit(), action: 'add', note: 'added' },
  })),
  gitRead('read note', 'GET /notes', strings('sha', 'note', 'ref_sha'), async (repository) => ({
    query: { sha: await repository.createCommit('noted') },
  })),
  gitWrite('delete note', 'DELETE /notes', NOTE, async (repository) => ({
    json: { sha: await repository.createCommit('noted') },
  })),
  gitRead(
    'list notes refs',
    'GET /notes/refs',
    { ...each('refs', strings('cursor', 'ref', 'sha')), prefix: 'string', ...PAGE },
    async (repository) => {
      await repository.createCommit('noted');
      return {};
    },
  ),
];

/** The operations on commits, files and notes. */
export const contentOperations: readonly Operation[] = [...commits, ...files, ...notes];
