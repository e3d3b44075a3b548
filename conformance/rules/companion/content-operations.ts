import { packLines } from '../../api/commit-pack.js';
import { AUTHOR } from '../../api/requests.js';
import { type Demand, each, type Operation, operation, PAGE, READ, STATS, WRITE } from './operation.js';
import type { Shape } from './shape.js';
import type { Bed } from './test-repository.js';

const WRITTEN: Shape = {
  'commit.commit_sha': 'string',
  'commit.tree_sha': 'string',
  'commit.target_branch': 'string',
  'commit.pack_bytes': 'number',
  'result.branch': 'string',
  'result.old_sha': 'string',
  'result.new_sha': 'string',
  'result.success': 'boolean',
  'result.status': 'string',
};
const NOTE: Shape = {
  sha: 'string',
  target_ref: 'string',
  new_ref_sha: 'string',
  'result.success': 'boolean',
  'result.status': 'string',
};

const PATCH_TEXT = (path: string): string =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+patched\n`;

const restored = async (bed: Bed): Promise<Demand> => ({
  lines: [{ metadata: { target_branch: await bed.branch(), target_commit_sha: bed.tip, author: AUTHOR } }],
});

const commits: readonly Operation[] = [
  operation('list commits', 'GET /commits', READ, 200, () => ({}), {
    ...each('commits', { sha: 'string', message: 'string', parent_shas: 'array' }),
    ...PAGE,
  }),
  operation('get commit', 'GET /commit', READ, 200, () => ({ query: { sha: 'main' } }), {
    'commit.sha': 'string',
    'commit.parent_shas': 'array',
  }),
  operation('commit diff', 'GET /diff', READ, 200, (bed) => ({ query: { sha: bed.tip } }), {
    sha: 'string',
    ...STATS,
  }),
  operation(
    'commit-pack',
    'POST /commit-pack',
    WRITE,
    201,
    async (bed) => ({ lines: packLines({ 'packed.txt': 'x' }, { target_branch: await bed.branch() }) }),
    { ...WRITTEN, 'commit.blob_count': 'number' },
  ),
  operation(
    'diff-commit',
    'POST /diff-commit',
    WRITE,
    201,
    async (bed) => {
      const data = Buffer.from(PATCH_TEXT('patched.txt')).toString('base64');
      const metadata = { target_branch: await bed.branch(), commit_message: 'Patch', author: AUTHOR };
      return { lines: [{ metadata }, { diff_chunk: { data, eof: true } }] };
    },
    { ...WRITTEN, 'commit.blob_count': 'number' },
  ),
  operation('restore-commit', 'POST /restore-commit', WRITE, 201, restored, WRITTEN),
  operation('reset-commits', 'POST /reset-commits', WRITE, 201, restored, WRITTEN),
];

const files: readonly Operation[] = [
  operation('list files', 'GET /files', READ, 200, () => ({}), {
    paths: 'array',
    ref: 'string',
    ...each('entries', { path: 'string', type: 'string', mode: 'string' }),
    ...PAGE,
  }),
  operation('file metadata', 'GET /files/metadata', READ, 200, () => ({}), {
    ...each('files', { path: 'string', mode: 'string', size: 'number', last_commit_sha: 'string' }),
    commits: 'object',
    ref: 'string',
  }),
  operation('read file', 'GET /file', READ, 200, () => ({ query: { path: 'README.md' } })),
  operation('head file', 'HEAD /file', READ, 200, () => ({ query: { path: 'README.md' } })),
  operation('blame', 'GET /blame', READ, 200, () => ({ query: { path: 'README.md' } }), {
    ref: 'string',
    path: 'string',
    commit_sha: 'string',
    ...each('lines', {
      line_number: 'number',
      commit_sha: 'string',
      original_line_number: 'number',
      original_path: 'string',
      author_name: 'string',
      author_email: 'string',
      author_time: 'string',
      committer_name: 'string',
      committer_email: 'string',
      committer_time: 'string',
      summary: 'string',
    }),
  }),
  operation('grep', 'POST /grep', READ, 200, () => ({ json: { query: { pattern: 'e' } } }), {
    matches: 'array',
    has_more: 'boolean',
  }),
  operation('archive', 'POST /archive', READ, 200, () => ({})),
];

const notes: readonly Operation[] = [
  operation(
    'add note',
    'POST /notes',
    WRITE,
    [201, 200],
    async (bed) => ({
      json: { sha: await bed.commit(), action: 'add', note: 'added' },
    }),
    NOTE,
  ),
  operation('read note', 'GET /notes', READ, 200, async (bed) => ({ query: { sha: await bed.commit('noted') } }), {
    sha: 'string',
    note: 'string',
    ref_sha: 'string',
  }),
  operation(
    'delete note',
    'DELETE /notes',
    WRITE,
    200,
    async (bed) => ({
      json: { sha: await bed.commit('noted') },
    }),
    NOTE,
  ),
  operation(
    'list notes refs',
    'GET /notes/refs',
    READ,
    200,
    async (bed) => {
      await bed.commit('noted');
      return {};
    },
    {
      ...each('refs', { cursor: 'string', ref: 'string', sha: 'string' }),
      prefix: 'string',
      ...PAGE,
    },
  ),
];

/** The operations on commits, files and notes. */
export const contentOperations: readonly Operation[] = [...commits, ...files, ...notes];
