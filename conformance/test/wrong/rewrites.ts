import type { ProxiedRequest, ProxiedResponse, Rewrite } from './proxy.js';

// biome-ignore lint/suspicious/noExplicitAny: bodies are of every shape
type Json = any;

/** Which requests a change is for: `POST /api/v1/repos/grep`, or any method without one. The query does not count. */
type Place = string | RegExp;

function isAt(place: Place, { method, path }: Pick<ProxiedRequest, 'method' | 'path'>): boolean {
  const line = `${method} ${path.split('?', 1)[0]}`;
  return typeof place === 'string' ? line === place : place.test(line);
}

/** Changes the JSON of some answers, where they have that status. */
function json(place: Place, change: (body: Json, answer: ProxiedResponse) => unknown, status?: number): Rewrite {
  return {
    response: (answer) => {
      if (!isAt(place, answer.request) || (status ?? answer.status) !== answer.status) return;
      if (!String(answer.headers['content-type']).includes('json') || answer.body.length === 0) return;
      const body: Json = JSON.parse(answer.body.toString());
      answer.body = Buffer.from(JSON.stringify(change(body, answer) ?? body));
    },
  };
}

/** The same, for one member at a path of names; undefined takes it away. */
function member(place: Place, path: string, value: unknown, status?: number): Rewrite {
  return json(
    place,
    (body) => {
      const names = path.split('.');
      const last = names.pop() as string;
      const owner = names.reduce((one, name) => one?.[name], body);
      if (owner === undefined || owner === null) return;
      if (value === undefined) delete owner[last];
      else owner[last] = value;
    },
    status,
  );
}

function status(place: Place, from: number, to: number): Rewrite {
  return {
    response: (answer) => {
      if (isAt(place, answer.request) && answer.status === from) answer.status = to;
    },
  };
}

/** Sets or takes away a header of answers with that status. */
function header(place: Place, name: string, value?: string, from?: number): Rewrite {
  return {
    response: ({ request, headers, status }) => {
      if (!isAt(place, request) || (from ?? status) !== status) return;
      if (value === undefined) delete headers[name];
      else headers[name] = value;
    },
  };
}

/** A server that does not look at a parameter of the query. */
function blind(place: Place, name: string): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request)) return;
      const [path, query = ''] = request.path.split('?');
      request.path = `${path}?${query
        .split('&')
        .filter((pair) => pair.split('=', 1)[0] !== name)
        .join('&')}`;
    },
  };
}

/** A server that does not look at a member of a request, wherever in the first line it stands. */
function deaf(place: Place, name: string): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request) || request.body.length === 0) return;
      const [first, ...more] = request.body.toString().split('\n');
      try {
        const kept = JSON.stringify(JSON.parse(first), (key, value) => (key === name ? undefined : value));
        request.body = Buffer.from([kept, ...more].join('\n'));
      } catch {
        // What is no JSON is refused as it is.
      }
    },
  };
}

/** A server with another default: it takes a member of the body, `a.b`, as given where the client left it out. */
function taken(place: Place, path: string, value: unknown): Rewrite {
  return {
    request: (request) => {
      if (!isAt(place, request)) return;
      const body: Json = JSON.parse(request.body.toString());
      const [owner, name] = path.split('.');
      body[owner] = { [name]: value, ...body[owner] };
      request.body = Buffer.from(JSON.stringify(body));
    },
  };
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
  wrong('repo.get.route', 'answers a read with 202', status(REPO, 200, 202)),
  wrong('repo.get.404', 'hides the code of a missing repository', member(REPO, 'code', 'not_found', 404)),
  wrong('repo.record.repo_id.string', 'leaves repo_id out', member(REPO, 'repo_id', undefined, 200)),
  wrong('repo.record.url.is-name', 'shows an address as url', member(REPO, 'url', 'https://example.com/x', 200)),
  wrong('repo.record.created_at.rfc3339', 'counts seconds in created_at', member(REPO, 'created_at', 1_700_000_000)),
  wrong(
    'repo.record.default_branch.string',
    'spells the branch out',
    member(REPO, 'default_branch', 'refs/heads/main'),
  ),
  wrong('repo.record.default_branch.string', 'names a branch nobody reads', member(REPO, 'default_branch', 'trunk')),
  wrong('general.route.api-prefix', 'has no list of repositories', status(REPOS, 200, 404)),
  wrong('general.path.slash-as-2f', 'lets nobody use names in paths', status(BRANCHES, 200, 403)),
  wrong('general.path.name-in-path', 'refuses whatever has a name in its path', status(/reset-commits$/, 409, 400)),
  wrong('other.branches.exists', 'finds no branches', status(BRANCHES, 200, 404)),
  wrong('other.diff.exists', 'finds nothing to compare', status(/v1\/repos\/diff$/, 200, 404)),
  wrong('version.wire-names', 'writes a member in camelCase', member(REPO, 'repoId', 'x', 200)),
  wrong(
    'rate.success.no-policy,repo.get.route',
    'announces its policy',
    header(REPO, 'ratelimit-policy', '"default";q=5'),
  ),

  wrong('problem.status.integer', 'writes the status as text', member(API, 'status', '404', 404)),
  wrong('problem.type.string', 'numbers its types', member(API, 'type', 7, 404)),
  wrong('problem.title.string', 'leaves the title out', member(API, 'title', undefined, 404)),
  wrong('problem.detail.string', 'has nothing to say in detail', member(API, 'detail', '', 404)),
  wrong('problem.error.mirrors-detail', 'says something else in error', member(API, 'error', 'Oh no.', 404)),
  wrong('problem.instance.string', 'counts instances', member(API, 'instance', 7, 404)),
  wrong('problem.code.present', 'leaves the code out', member(API, 'code', undefined, 404)),
  wrong('problem.code.snake-case', 'writes the code with hyphens', member(API, 'code', 'repository-not-found', 404)),
  wrong(
    'err.generic-when-no-specific,repo.get.404',
    'gives a 404 the code of a 400',
    member(API, 'code', 'bad_request', 404),
  ),
  wrong(
    'err.content-type,repo.get.404',
    'calls a problem plain JSON',
    header(API, 'content-type', 'application/json', 404),
  ),
  wrong('err.error-member,repo.get.404', 'leaves error out', member(API, 'error', undefined, 404)),
  wrong('err.5xx-safe,grep.err.400.regex', 'breaks over a bad pattern', status(GREP, 400, 500)),
  wrong('err.status-text-snake', 'invents a code for 415', member(GREP, 'code', 'bad_encoding', 415)),
  wrong('err.specific.insufficient_scope', 'takes a missing scope for a missing token', status(GREP, 403, 401)),
  wrong('err.generic.409', 'calls a stale head a merge conflict', member(PACK, 'code', 'merge_conflict', 409)),
  wrong('err.specific.merge_conflict', 'calls every conflict a conflict', member(/merge$/, 'code', 'conflict', 409)),
  wrong('err.thawing.retry-after', 'does not say when to come back', header(ANY, 'retry-after', undefined, 409)),
  wrong('state.thawing.409', 'is locked while it thaws', status(API, 409, 423)),

  wrong('authfail.401.no-header', 'answers 403 without a token', status(API, 401, 403)),
  wrong('grep.err.403.scope', 'does not look at scopes', status(GREP, 403, 200)),
  wrong('scope.matrix.pack.git-read', 'lets readers write', status(PACK, 403, 201)),
  wrong('jwt.alg.none', 'takes unsigned tokens', status(API, 403, 200)),
  wrong('other.err.401.no-header', 'shows the organization to anybody', status('GET /api/meta', 401, 200)),

  wrong(
    'commit.record.author_email',
    'leaves the address of the author out',
    member(COMMIT, 'commit.author_email', undefined),
  ),
  wrong('commit.record.date.rfc3339', 'writes the date as Git does', member(COMMIT, 'commit.date', '1700000000 +0000')),
  wrong(
    'commit.record.message',
    'shows the first line only',
    json(
      COMMIT,
      (body) => {
        body.commit.message = body.commit.message.split('\n')[0];
      },
      200,
    ),
  ),
  wrong('commit.record.same-as-list', 'lists no commits', member(COMMITS, 'commits', [])),
  wrong(
    'commit.record.same-as-list',
    'lists subjects for messages',
    json(COMMITS, ({ commits = [] }) => {
      for (const commit of commits) commit.message = commit.message.split('\n')[0];
    }),
  ),
  wrong('commit.get.no-diff', 'tells which files a commit touched', member(COMMIT, 'commit.touched', ['README.md'])),
  wrong('commit.get.sha.missing', 'takes HEAD where nothing is named', {
    request: (request) => {
      if (request.path === '/api/v1/repos/commit') request.path += '?sha=HEAD';
    },
  }),
  wrong('limit.list.param', 'does not look at limit', blind(REPOS, 'limit')),
  wrong('limit.page.next_cursor', 'does not look at cursor', blind(REPOS, 'cursor')),
  wrong('limit.page.has_more', 'always promises more', member(COMMITS, 'has_more', true)),

  wrong(
    'write.result.old_sha.zeros',
    'has no old_sha for a new branch',
    json(PACK, (body) => {
      if (/^0+$/.test(body.result?.old_sha)) body.result.old_sha = '';
    }),
  ),
  wrong(
    'write.result.old_sha.zeros',
    'calls the base the old tip',
    member(PACK, 'result.old_sha', 'a'.repeat(40), 409),
  ),
  wrong(
    'write.result.old_sha.hex40,pack.expected_head.mismatch',
    'shortens the tip of a branch that was not written',
    member(PACK, 'result.old_sha', 'abc1234', 409),
  ),
  wrong('write.result.status.ok', 'calls a success created', member(PACK, 'result.status', 'created', 201)),
  wrong('write.commit.pack_bytes', 'writes sizes as text', member(PACK, 'commit.pack_bytes', '12', 201)),
  wrong('pack.file.op.delete', 'keeps what is deleted', deaf(PACK, 'operation')),
  wrong('pack.file.mode.100755', 'does not look at modes', deaf(PACK, 'mode')),
  wrong('restore.expected_head.mismatch', 'does not look at expected_head_sha', deaf(RESTORE, 'expected_head_sha')),
  wrong('restore.already.status', 'calls nothing to do a success', member(RESTORE, 'result.success', true, 409)),
  wrong('restore.resp.result', 'does not say which branch it wrote', member(RESTORE, 'result.branch', '', 201)),
  wrong('restore.failure-body', 'does not say why it failed', member(RESTORE, 'result.message', '', 409)),
  wrong('restore.commit_message.used', 'makes up its own message', deaf(RESTORE, 'commit_message')),

  wrong(
    'filemeta.err.body',
    'answers with an empty object',
    json(META, () => ({}), 404),
  ),
  wrong(
    'file-entry.size.number',
    'writes sizes as text',
    json(
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
    json(
      META,
      (body) => {
        body.commits['5ca1ab1e0ddba11c0ffee000facade0123456789'] = Object.values(body.commits)[0];
      },
      200,
    ),
  ),
  wrong(
    'commit-summary.date.which',
    'dates every commit alike',
    json(
      META,
      (body) => {
        for (const commit of Object.values<Json>(body.commits)) commit.date = '2001-02-03T04:05:06Z';
      },
      200,
    ),
  ),
  wrong('filemeta.ref.branch', 'does not look at ref', blind(META, 'ref')),
  wrong(
    'filemeta.resp.ref',
    'repeats what was passed as ref',
    json(
      META,
      (body, { request }) => {
        body.ref = new URLSearchParams(request.path.split('?')[1]).get('ref') ?? body.ref;
      },
      200,
    ),
  ),
  wrong('file.bytes', 'changes a byte', {
    response: (answer) => {
      if (isAt(FILE, answer.request) && answer.status === 200 && answer.body.length > 0) answer.body[0] ^= 1;
    },
  }),
  wrong('file.ephemeral.true', 'does not look at ephemeral', blind(FILE, 'ephemeral')),

  wrong('grep.case.false', 'always looks at case', deaf(GREP, 'case_sensitive')),
  wrong('grep.include_globs', 'does not look at include_globs', deaf(GREP, 'include_globs')),
  wrong('grep.context.before', 'shows no context', deaf(GREP, 'context')),
  wrong(
    'grep.resp.line.line_number',
    'counts lines from zero',
    json(
      GREP,
      (body) => {
        for (const { lines } of body.matches) for (const line of lines) line.line_number -= 1;
      },
      200,
    ),
  ),
  wrong('grep.max_lines.default', 'shows 100 lines unless asked', taken(GREP, 'limits.max_lines', 100)),
  wrong('grep.max_matches_per_file.default', 'shows 20 of a file', taken(GREP, 'limits.max_matches_per_file', 20)),
  wrong('grep.page.limit.default', 'pages by 50', taken(GREP, 'pagination.limit', 50)),
  wrong('grep.page.cursor.continues', 'starts over on every page', deaf(GREP, 'cursor')),
  wrong(
    'archive.header.content-type',
    'calls an archive bytes',
    header(ARCHIVE, 'content-type', 'application/octet-stream'),
  ),
  wrong('archive.header.cache-control', 'lets archives be stored', header(ARCHIVE, 'cache-control', 'public')),
  wrong(
    'archive.header.disposition',
    'calls every archive alike',
    header(ARCHIVE, 'content-disposition', 'attachment; filename="archive-1.tar.gz"'),
  ),
  wrong('archive.prefix.dotdot', 'packs nothing where there is a prefix', {
    request: (request) => {
      if (!isAt(ARCHIVE, request) || !request.body.includes('"a/b"')) return;
      request.body = Buffer.from('{"include_globs":["no.thing"]}');
    },
  }),
  wrong('archive.max_blob_size', 'does not look at max_blob_size', deaf(ARCHIVE, 'max_blob_size')),
  wrong('archive.prefix', 'does not look at the prefix', deaf(ARCHIVE, 'prefix')),

  wrong('note.result.new_ref_sha', 'does not say where the notes are now', member(NOTES, 'new_ref_sha', '', 201)),
  wrong('note.action.append.existing', 'takes append for add', deaf(NOTES, 'action')),
  wrong(
    'note.err.body',
    'says nothing of a note that failed',
    json(NOTES, () => ({ message: 'no' }), 409),
  ),

  wrong('rate.429.retry-after', 'does not say when to come back', header(REPO, 'retry-after', undefined, 429)),
  wrong('rate.429.ratelimit', 'has no RateLimit', header(REPO, 'ratelimit', undefined, 429)),
  wrong('rate.429.ratelimit.t', 'does not name its window', header(REPO, 'ratelimit', '"default";r=0', 429)),

  wrong('git.challenge.401', 'refuses Git without asking for a password', status(REFS, 401, 403)),
  wrong('git.challenge.header', 'asks Git for nothing', header(REFS, 'www-authenticate')),
  wrong('git.remote.form', 'shows Git no refs', {
    response: (answer) => {
      if (isAt(REFS, answer.request) && answer.status === 200) answer.body = Buffer.from('0000');
    },
  }),
  wrong(
    'other.named-only',
    'lists branches without cursors',
    json(
      BRANCHES,
      (body) => {
        for (const branch of body.branches) delete branch.cursor;
      },
      200,
    ),
  ),
  wrong('version.other-names', 'answers in old words only', member(/commit-pack$/, 'result.target_branch', undefined)),
  wrong('scope.read-family', 'wants more than git:read for blame', status(/blame$/, 200, 403)),
];
