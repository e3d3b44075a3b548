import { packBody } from '../../service.js';
import { both, nothing, READ, type RouteRows, type Sent, SHA, TIME, WRITE } from './row.js';

const ADA = { name: 'Ada', email: 'ada@example.com' };

const commit = {
  sha: SHA,
  parent_shas: Array,
  message: String,
  author_name: String,
  author_email: String,
  committer_name: String,
  committer_email: String,
  date: TIME,
};
const written = {
  commit: { commit_sha: SHA, tree_sha: SHA, target_branch: 'main', pack_bytes: Number },
  result: { branch: 'main', target_branch: 'main', old_sha: SHA, new_sha: SHA, success: true, status: 'ok' },
};
const counted = { ...written, commit: { ...written.commit, blob_count: 1 } };
const diff = {
  stats: { files: 1, additions: 1, deletions: Number, changes: Number },
  files: [{ path: String, state: /^[AM]$/, raw: /^diff --git /, bytes: Number, is_eof: true, additions: 1 }],
  filtered_files: [],
};

const PATCH = 'diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n';

function patchBody(metadata: object): string {
  const lines = [
    { metadata: { target_branch: 'main', commit_message: 'Patch', author: ADA, ...metadata } },
    { diff_chunk: { data: Buffer.from(PATCH).toString('base64'), eof: true } },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function restoreBody(metadata: object): Sent {
  return { json: { metadata: { target_branch: 'main', author: ADA, ...metadata } } };
}

/** Requests of the operations that concern branches, commits and tags. */
export const historyRows: RouteRows = {
  'list branches': {
    method: 'GET',
    routes: both('branches'),
    scopes: READ,
    sends: [nothing, () => ({ query: { ephemeral: 'false', limit: '2' } })],
    ok: 200,
    answers: { branches: [{ cursor: String, name: 'main', head_sha: SHA, created_at: TIME }, {}], has_more: false },
  },
  'get branch': {
    method: 'GET',
    routes: both('branch'),
    scopes: READ,
    sends: [() => ({ query: { name: 'scratch', ephemeral: 'true' } })],
    ok: 200,
    answers: { branch: { name: 'scratch', head_sha: SHA, created_at: TIME } },
  },
  'create branch': {
    method: 'POST',
    routes: both('branches/create'),
    scopes: WRITE,
    sends: [
      () => ({ json: { target_branch: 'b', base_branch: 'main' } }),
      ({ first }) => ({ json: { target_branch: 'b', base_ref: first, target_is_ephemeral: false } }),
    ],
    ok: 200,
    answers: { message: 'branch created', target_branch: 'b', target_is_ephemeral: false, commit_sha: SHA },
  },
  'delete branch': {
    method: 'DELETE',
    routes: both('branches'),
    scopes: WRITE,
    sends: [() => ({ json: { name: 'topic' } }), () => ({ json: { target_branch: 'topic' } })],
    ok: 200,
    answers: { name: 'topic', target_branch: 'topic', message: 'branch deleted', ephemeral: false },
  },
  'diff branch': {
    method: 'GET',
    routes: both('branches/diff'),
    scopes: READ,
    sends: [() => ({ query: { branch: 'topic' } }), () => ({ query: { branch: 'topic', path: ['t', 'none'] } })],
    ok: 200,
    answers: { branch: 'topic', base: 'main', merge_base_sha: SHA, ...diff },
  },
  'list commits': {
    method: 'GET',
    routes: both('commits'),
    scopes: READ,
    sends: [() => ({ query: { branch: 'main' } }), () => ({ query: { ref: 'main' } })],
    ok: 200,
    answers: { commits: [commit, commit], has_more: false },
  },
  'get commit': {
    method: 'GET',
    routes: both('commit'),
    scopes: READ,
    sends: [({ tip }) => ({ query: { sha: tip } }), () => ({ query: { ref: 'main', ref_is_ephemeral: 'false' } })],
    ok: 200,
    answers: { commit },
  },
  'diff commits': {
    method: 'GET',
    routes: both('diff'),
    scopes: READ,
    sends: [
      ({ tip }) => ({ query: { sha: tip } }),
      ({ tip, first }) => ({ query: { sha: tip, baseSha: first, gitApplyCompatible: 'true' } }),
      () => ({ query: { ref: 'main', base_ref: 'main~1', git_apply_compatible: 'true' } }),
    ],
    ok: 200,
    answers: { sha: SHA, base_sha: SHA, merge_base_sha: String, ...diff },
  },
  'commit files': {
    method: 'POST',
    routes: both('commit-pack'),
    scopes: WRITE,
    sends: [
      ({ tip }) => ({ body: packBody({ n: 'n' }, { expected_head_sha: tip, ephemeral: false }) }),
      ({ tip }) => ({ body: packBody({ n: 'n' }, { expected_target_sha: tip, target_is_ephemeral: false }) }),
    ],
    ok: 201,
    answers: counted,
  },
  'commit a patch': {
    method: 'POST',
    routes: both('diff-commit'),
    scopes: WRITE,
    sends: [
      ({ tip }) => ({ body: patchBody({ expected_head_sha: tip, ephemeral: false }) }),
      ({ tip }) => ({ body: patchBody({ expected_target_sha: tip, target_is_ephemeral: false }) }),
    ],
    ok: 201,
    answers: counted,
  },
  'restore a commit': {
    method: 'POST',
    routes: [...both('restore-commit'), ...both('reset-commits')],
    scopes: WRITE,
    sends: [
      ({ first, tip }) => restoreBody({ target_commit_sha: first, expected_head_sha: tip }),
      ({ tip }) => restoreBody({ base_ref: 'HEAD~1', expected_target_sha: tip }),
    ],
    ok: 201,
    answers: written,
  },
  merge: {
    method: 'POST',
    routes: both('merge'),
    scopes: WRITE,
    sends: [
      () => ({ json: { source_branch: 'topic', target_branch: 'main', strategy: 'ff_only' } }),
      ({ topic }) => ({ json: { source_ref: topic, target_branch: 'main', strategy: 'ff_prefer' } }),
    ],
    ok: 200,
    answers: {
      result: 'fast_forward',
      commit_sha: SHA,
      tree_sha: SHA,
      source: { branch: String, ref: String, ephemeral: false, sha: SHA },
      target: { branch: 'main', ephemeral: false, old_sha: SHA, new_sha: SHA },
      promoted_commits: 1,
    },
  },
  'preview a merge': {
    method: 'GET',
    routes: both('merge/preview'),
    scopes: READ,
    sends: [() => ({ query: { source_branch: 'topic', target_branch: 'main', include_content: 'true' } })],
    ok: 200,
    answers: {
      status: 'clean',
      result: 'fast_forward',
      source_branch: 'topic',
      target_branch: 'main',
      source_tip_sha: SHA,
      target_tip_sha: SHA,
      conflict_paths: [],
      conflicts: [],
      filtered_conflicts: [],
    },
  },
  'list tags': {
    method: 'GET',
    routes: both('tags'),
    scopes: READ,
    sends: [nothing],
    ok: 200,
    answers: { tags: [{ cursor: String, name: 'v1/rc', sha: SHA }], has_more: false },
  },
  'get tag': {
    method: 'GET',
    routes: both('tag'),
    scopes: READ,
    sends: [() => ({ query: { name: 'v1/rc' } })],
    ok: 200,
    answers: { tag: { name: 'v1/rc', sha: SHA } },
  },
  'create tag': {
    method: 'POST',
    routes: both('tags'),
    scopes: WRITE,
    sends: [({ tip }) => ({ json: { name: 'v2', target: tip } }), () => ({ json: { name: 'v2', ref: 'main' } })],
    ok: 200,
    answers: { name: 'v2', sha: SHA, message: 'tag created' },
  },
  'delete tag': {
    method: 'DELETE',
    routes: ['/api/repos/{repo_name}/tags/{tag}'],
    scopes: [...READ, ...WRITE],
    sends: [nothing],
    ok: 200,
    answers: { name: 'v1/rc', message: 'tag deleted' },
  },
  'delete tag by body': {
    method: 'DELETE',
    routes: ['/api/v1/repos/tags'],
    scopes: [...READ, ...WRITE],
    sends: [() => ({ json: { name: 'v1/rc' } })],
    ok: 200,
    answers: { name: 'v1/rc', message: 'tag deleted' },
  },
};
