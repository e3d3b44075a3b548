import type { Rewrite } from './proxy.js';
import {
  assumesMember,
  assumesParameter,
  changesJson,
  changesStatus,
  ignoresMember,
  ignoresParameter,
  isAt,
  setsHeader,
  setsMember,
} from './rewrites.js';

interface Commit {
  message: string;
}

function subjectOf({ message }: Commit): string {
  return message.replace(/\n.*/s, '');
}

const ANY = /./;
const API = / \/api\//;
const REPO = 'GET /api/v1/repo';
const REPOS = 'GET /api/repos';
const COMMIT = 'GET /api/v1/repos/commit';
const COMMITS = 'GET /api/v1/repos/commits';
const PACK = 'POST /api/v1/repos/commit-pack';
const RESTORE = 'POST /api/v1/repos/restore-commit';
const META = 'GET /api/v1/repos/files/metadata';
const FILE = 'GET /api/v1/repos/file';
const GREP = 'POST /api/v1/repos/grep';
const ARCHIVE = 'POST /api/v1/repos/archive';
const NOTES = 'POST /api/v1/repos/notes';
const BRANCHES = /^GET .*\/branches$/;
const REFS = /\.git\/info\/refs$/;

export interface WrongBehaviour {
  /** The rule that has to notice; others that it needs to see answers of, behind a comma. */
  readonly rule: string;
  /** What the server does. */
  readonly does: string;
  readonly rewrite: Rewrite;
}

const wrong = (rule: string, does: string, rewrite: Rewrite): WrongBehaviour => ({ rule, does, rewrite });

/** One wrong behaviour each. */
export const WRONG_BEHAVIOURS: readonly WrongBehaviour[] = [
  wrong('repo.get.route', 'answers a read with 202', changesStatus(REPO, 200, 202)),
  wrong('repo.get.404', 'hides the code of a missing repository', setsMember(REPO, 'code', 'not_found', 404)),
  wrong('repo.record.repo_id.string', 'leaves repo_id out', setsMember(REPO, 'repo_id', undefined, 200)),
  wrong('repo.record.url.is-name', 'shows an address as url', setsMember(REPO, 'url', 'https://example.com/x', 200)),
  wrong(
    'repo.record.created_at.rfc3339',
    'counts seconds in created_at',
    setsMember(REPO, 'created_at', 1_700_000_000),
  ),
  wrong(
    'repo.record.default_branch.string',
    'spells the branch out',
    setsMember(REPO, 'default_branch', 'refs/heads/main'),
  ),
  wrong(
    'repo.record.default_branch.string',
    'names a branch nobody reads',
    setsMember(REPO, 'default_branch', 'trunk'),
  ),
  wrong('general.route.api-prefix', 'has no list of repositories', changesStatus(REPOS, 200, 404)),
  wrong('general.path.slash-as-2f', 'lets nobody use names in paths', changesStatus(BRANCHES, 200, 403)),
  wrong(
    'general.path.name-in-path',
    'refuses whatever has a name in its path',
    changesStatus(/reset-commits$/, 409, 400),
  ),
  wrong('other.branches.exists', 'finds no branches', changesStatus(BRANCHES, 200, 404)),
  wrong('other.diff.exists', 'finds nothing to compare', changesStatus(/v1\/repos\/diff$/, 200, 404)),
  wrong('version.wire-names', 'writes a member in camelCase', setsMember(REPO, 'repoId', 'x', 200)),
  wrong(
    'rate.success.no-policy,repo.get.route',
    'announces its policy',
    setsHeader(REPO, 'ratelimit-policy', '"default";q=5'),
  ),

  wrong('problem.status.integer', 'writes the status as text', setsMember(API, 'status', '404', 404)),
  wrong('problem.type.string', 'numbers its types', setsMember(API, 'type', 7, 404)),
  wrong('problem.title.string', 'leaves the title out', setsMember(API, 'title', undefined, 404)),
  wrong('problem.detail.string', 'has nothing to say in detail', setsMember(API, 'detail', '', 404)),
  wrong('problem.error.mirrors-detail', 'says something else in error', setsMember(API, 'error', 'Oh no.', 404)),
  wrong('problem.instance.string', 'counts instances', setsMember(API, 'instance', 7, 404)),
  wrong('problem.code.present', 'leaves the code out', setsMember(API, 'code', undefined, 404)),
  wrong(
    'problem.code.snake-case',
    'writes the code with hyphens',
    setsMember(API, 'code', 'repository-not-found', 404),
  ),
  wrong(
    'err.generic-when-no-specific,repo.get.404',
    'gives a 404 the code of a 400',
    setsMember(API, 'code', 'bad_request', 404),
  ),
  wrong(
    'err.content-type,repo.get.404',
    'calls a problem plain JSON',
    setsHeader(API, 'content-type', 'application/json', 404),
  ),
  wrong('err.error-member,repo.get.404', 'leaves error out', setsMember(API, 'error', undefined, 404)),
  wrong('err.5xx-safe,grep.err.400.regex', 'breaks over a bad pattern', changesStatus(GREP, 400, 500)),
  wrong('err.status-text-snake', 'invents a code for 415', setsMember(GREP, 'code', 'bad_encoding', 415)),
  wrong('err.specific.insufficient_scope', 'takes a missing scope for a missing token', changesStatus(GREP, 403, 401)),
  wrong('err.generic.409', 'calls a stale head a merge conflict', setsMember(PACK, 'code', 'merge_conflict', 409)),
  wrong(
    'err.specific.merge_conflict',
    'calls every conflict a conflict',
    setsMember(/merge$/, 'code', 'conflict', 409),
  ),
  wrong('err.thawing.retry-after', 'does not say when to come back', setsHeader(ANY, 'retry-after', undefined, 409)),
  wrong('state.thawing.409', 'is locked while it thaws', changesStatus(API, 409, 423)),

  wrong('authfail.401.no-header', 'answers 403 without a token', changesStatus(API, 401, 403)),
  wrong('grep.err.403.scope', 'does not look at scopes', changesStatus(GREP, 403, 200)),
  wrong('scope.matrix.pack.git-read', 'lets readers write', changesStatus(PACK, 403, 201)),
  wrong('jwt.alg.none', 'takes unsigned tokens', changesStatus(API, 403, 200)),
  wrong('other.err.401.no-header', 'shows the organization to anybody', changesStatus('GET /api/meta', 401, 200)),

  wrong(
    'commit.record.author_email',
    'leaves the address of the author out',
    setsMember(COMMIT, 'commit.author_email', undefined),
  ),
  wrong(
    'commit.record.date.rfc3339',
    'writes the date as Git does',
    setsMember(COMMIT, 'commit.date', '1700000000 +0000'),
  ),
  wrong(
    'commit.record.message',
    'shows the first line only',
    changesJson<{ commit: Commit }>(
      COMMIT,
      ({ commit }) => {
        commit.message = subjectOf(commit);
      },
      200,
    ),
  ),
  wrong('commit.record.same-as-list', 'lists no commits', setsMember(COMMITS, 'commits', [])),
  wrong(
    'commit.record.same-as-list',
    'lists subjects for messages',
    changesJson<{ commits?: Commit[] }>(COMMITS, ({ commits = [] }) => {
      for (const commit of commits) commit.message = subjectOf(commit);
    }),
  ),
  wrong(
    'commit.get.no-diff',
    'tells which files a commit touched',
    setsMember(COMMIT, 'commit.touched', ['README.md']),
  ),
  wrong('commit.get.sha.missing', 'takes HEAD where nothing is named', {
    request: (request) => {
      if (request.path === '/api/v1/repos/commit') request.path += '?sha=HEAD';
    },
  }),
  wrong('limit.list.param', 'does not look at limit', ignoresParameter(REPOS, 'limit')),
  wrong('limit.page.next_cursor', 'does not look at cursor', ignoresParameter(REPOS, 'cursor')),
  wrong('limit.page.has_more', 'always promises more', setsMember(COMMITS, 'has_more', true)),

  wrong(
    'write.result.old_sha.zeros',
    'has no old_sha for a new branch',
    changesJson<{ result?: { old_sha: string } }>(PACK, ({ result }) => {
      if (result !== undefined && /^0+$/.test(result.old_sha)) result.old_sha = '';
    }),
  ),
  wrong(
    'write.result.old_sha.zeros',
    'calls the base the old tip',
    setsMember(PACK, 'result.old_sha', 'a'.repeat(40), 409),
  ),
  wrong(
    'write.result.old_sha.hex40,pack.expected_head.mismatch',
    'shortens the tip of a branch that was not written',
    setsMember(PACK, 'result.old_sha', 'abc1234', 409),
  ),
  wrong('write.result.status.ok', 'calls a success created', setsMember(PACK, 'result.status', 'created', 201)),
  wrong('write.commit.pack_bytes', 'writes sizes as text', setsMember(PACK, 'commit.pack_bytes', '12', 201)),
  wrong('pack.file.op.delete', 'keeps what is deleted', ignoresMember(PACK, 'operation')),
  wrong('pack.file.mode.100755', 'does not look at modes', ignoresMember(PACK, 'mode')),
  wrong(
    'restore.expected_head.mismatch',
    'does not look at expected_head_sha',
    ignoresMember(RESTORE, 'expected_head_sha'),
  ),
  wrong('restore.already.status', 'calls nothing to do a success', setsMember(RESTORE, 'result.success', true, 409)),
  wrong('restore.resp.result', 'does not say which branch it wrote', setsMember(RESTORE, 'result.branch', '', 201)),
  wrong('restore.failure-body', 'does not say why it failed', setsMember(RESTORE, 'result.message', '', 409)),
  wrong('restore.commit_message.used', 'makes up its own message', ignoresMember(RESTORE, 'commit_message')),

  wrong(
    'filemeta.err.body',
    'answers with an empty object',
    changesJson(META, () => ({}), 404),
  ),
  wrong(
    'file-entry.size.number',
    'writes sizes as text',
    changesJson<{ files: { size: unknown }[] }>(
      META,
      (body) => {
        for (const file of body.files) file.size = String(file.size);
      },
      200,
    ),
  ),
  wrong(
    'commit-summary.dedup',
    'lists a commit that no file refers to',
    changesJson<{ commits: Record<string, unknown> }>(
      META,
      ({ commits }) => {
        commits['5ca1ab1e0ddba11c0ffee000facade0123456789'] = Object.values(commits)[0];
      },
      200,
    ),
  ),
  wrong(
    'commit-summary.date.which',
    'dates every commit alike',
    changesJson<{ commits: Record<string, { date: string }> }>(
      META,
      ({ commits }) => {
        for (const commit of Object.values(commits)) commit.date = '2001-02-03T04:05:06Z';
      },
      200,
    ),
  ),
  wrong('filemeta.ref.branch', 'does not look at ref', ignoresParameter(META, 'ref')),
  wrong('filemeta.ref.fallback-head', 'lists main without a default branch', assumesParameter(META, 'ref', 'main')),
  wrong('filemeta.ref.fallback-main', 'lists nothing without HEAD', setsMember(META, 'files', [], 200)),
  wrong('filemeta.err.429.too-many', 'calls too many commits too large', changesStatus(META, 429, 413)),
  wrong(
    'err.specific.hosting_not_enabled',
    'hides that there is no hosting',
    setsMember('POST /api/repos', 'code', 'forbidden', 403),
  ),
  wrong(
    'filemeta.resp.ref',
    'repeats what was passed as ref',
    changesJson<{ ref: string }>(
      META,
      (body, { request }) => {
        body.ref = new URLSearchParams(request.path.split('?')[1]).get('ref') ?? body.ref;
      },
      200,
    ),
  ),
  wrong('file.bytes', 'changes a byte', {
    response: ({ request, status, body }) => {
      if (isAt(FILE, request) && status === 200 && body.length > 0) body.writeUInt8(body.readUInt8() ^ 1);
    },
  }),
  wrong('file.ephemeral.true', 'does not look at ephemeral', ignoresParameter(FILE, 'ephemeral')),

  wrong('grep.case.false', 'always looks at case', ignoresMember(GREP, 'case_sensitive')),
  wrong('grep.include_globs', 'does not look at include_globs', ignoresMember(GREP, 'include_globs')),
  wrong('grep.context.before', 'shows no context', ignoresMember(GREP, 'context')),
  wrong(
    'grep.resp.line.line_number',
    'counts lines from zero',
    changesJson<{ matches: { lines: { line_number: number }[] }[] }>(
      GREP,
      ({ matches }) => {
        for (const { lines } of matches) for (const line of lines) line.line_number -= 1;
      },
      200,
    ),
  ),
  wrong('grep.max_lines.default', 'shows 100 lines unless asked', assumesMember(GREP, 'limits.max_lines', 100)),
  wrong(
    'grep.max_matches_per_file.default',
    'shows 20 of a file',
    assumesMember(GREP, 'limits.max_matches_per_file', 20),
  ),
  wrong('grep.page.limit.default', 'pages by 50', assumesMember(GREP, 'pagination.limit', 50)),
  wrong('grep.page.cursor.continues', 'starts over on every page', ignoresMember(GREP, 'cursor')),
  wrong(
    'archive.header.content-type',
    'calls an archive bytes',
    setsHeader(ARCHIVE, 'content-type', 'application/octet-stream'),
  ),
  wrong('archive.header.cache-control', 'lets archives be stored', setsHeader(ARCHIVE, 'cache-control', 'public')),
  wrong(
    'archive.header.disposition',
    'calls every archive alike',
    setsHeader(ARCHIVE, 'content-disposition', 'attachment; filename="archive-1.tar.gz"'),
  ),
  wrong('archive.prefix.dotdot', 'packs nothing where there is a prefix', {
    request: (request) => {
      if (!isAt(ARCHIVE, request) || !request.body.includes('"a/b"')) return;
      request.body = Buffer.from('{"include_globs":["no.thing"]}');
    },
  }),
  wrong('archive.max_blob_size', 'does not look at max_blob_size', ignoresMember(ARCHIVE, 'max_blob_size')),
  wrong('archive.ref.head', 'packs main without a default branch', {
    request: (request) => {
      if (isAt(ARCHIVE, request)) request.body = Buffer.from('{"ref":"main"}');
    },
  }),
  wrong('archive.prefix', 'does not look at the prefix', ignoresMember(ARCHIVE, 'prefix')),

  wrong('note.result.new_ref_sha', 'does not say where the notes are now', setsMember(NOTES, 'new_ref_sha', '', 201)),
  wrong('note.action.append.existing', 'takes append for add', ignoresMember(NOTES, 'action')),
  wrong(
    'note.err.body',
    'says nothing of a note that failed',
    changesJson(NOTES, () => ({ message: 'no' }), 409),
  ),

  wrong('rate.429.retry-after', 'does not say when to come back', setsHeader(REPO, 'retry-after', undefined, 429)),
  wrong('rate.429.ratelimit', 'has no RateLimit', setsHeader(REPO, 'ratelimit', undefined, 429)),
  wrong('rate.429.ratelimit.t', 'does not name its window', setsHeader(REPO, 'ratelimit', '"default";r=0', 429)),

  wrong('git.challenge.401', 'refuses Git without asking for a password', changesStatus(REFS, 401, 403)),
  wrong('git.challenge.header', 'asks Git for nothing', setsHeader(REFS, 'www-authenticate')),
  wrong('git.remote.form', 'shows Git no refs', {
    response: (response) => {
      if (isAt(REFS, response.request) && response.status === 200) response.body = Buffer.from('0000');
    },
  }),
  wrong(
    'other.named-only',
    'lists branches without cursors',
    changesJson<{ branches: { cursor?: string }[] }>(
      BRANCHES,
      ({ branches }) => {
        for (const branch of branches) delete branch.cursor;
      },
      200,
    ),
  ),
  wrong(
    'version.other-names',
    'answers in old words only',
    setsMember(/commit-pack$/, 'result.target_branch', undefined),
  ),
  wrong('scope.read-family', 'wants more than git:read for blame', changesStatus(/blame$/, 200, 403)),
];
