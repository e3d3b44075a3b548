import { type Mutant, proxied } from '../mutant.js';
import {
  ARCHIVE,
  BRANCHES,
  COMMIT,
  COMMITS,
  CREATE,
  DIFF,
  FILE,
  GREP,
  META,
  META_OF_ORGANIZATION,
  NOTES,
  PACK,
  REFS,
  REPO,
  RESTORE,
} from '../places.js';
import type { ProxiedResponse, Rewrite } from '../proxy.js';
import { changesStatus, isAt, type Place, setsHeader, setsMember } from '../rewrites.js';

/**
 * Mistakes of single operations, by the correct error code. Each row has a name, the requests, and the wrong status or
 * code that the server sends.
 */
const WRONG: Readonly<Record<string, readonly (readonly [operation: string, place: Place, wrong: number | string])[]>> =
  {
    repo_name_mismatch: [['creation', 'POST /api/v1/repos', 'bad_request']],
    branch_not_found: [
      ['read', /^GET .*\/branch$/, 410],
      ['diff', /^GET .*\/branches\/diff$/, 400],
      ['creation', /^POST .*\/branches\/create$/, 409],
      ['deletion', /^DELETE \/api\/repos\/[^/]+\/branches$/, 410],
      ['preview', /^GET .*\/merge\/preview$/, 'repository_not_found'],
      ['merge', /^POST .*\/merge$/, 422],
    ],
    ref_not_found: [
      ['diff', /^GET \/api\/repos\/[^/]+\/diff$/, 'repository_not_found'],
      ['list', /^GET \/api\/repos\/.*\/files$/, 410],
      ['blame', /^GET \/api\/repos\/.*\/blame$/, 400],
    ],
    credential_not_found: [
      ['deletion', /^DELETE \/api\/repos\/.*\/git-credentials\/[^/]+$/, 'not_found'],
      ['deletion-by-body', 'DELETE /api/v1/repos/git-credentials', 410],
    ],
    hosting_project_not_found: [
      ['list', /^GET .*\/deployments$/, 'not_found'],
      ['read', /^GET .*\/deployments\/[^/]+$/, 'deployment_not_found'],
    ],
    deployment_project_name_in_use: [['creation', CREATE, 'conflict']],
    forge_app_not_configured: [['creation', 'POST /api/v1/repos', 'precondition_failed']],
    hosting_not_enabled: [['update', /^PATCH .*/, 'forbidden']],
    repository_not_found: [
      ['update', /^PATCH .*/, 'not_found'],
      ['deletion', /^DELETE \/api\/repos\/[^/]+$/, 'not_found'],
    ],
  };

const STATUS: Readonly<Record<string, number>> = {
  repo_name_mismatch: 400,
  deployment_project_name_in_use: 409,
  forge_app_not_configured: 412,
  hosting_not_enabled: 403,
};

const kebab = (code: string): string => code.replaceAll('_', '-');

const wrongCodes = Object.entries(WRONG).flatMap(([code, rows]) =>
  rows.map(([operation, place, wrong]) => {
    const status = STATUS[code] ?? 404;
    return proxied(
      `err-${kebab(code)}-is-wrong-at-a-${operation}`,
      `err.specific.${code}#operations`,
      `answers a ${operation.replaceAll('-', ' ')} with ${wrong} in place of ${status} ${code}`,
      typeof wrong === 'number' ? changesStatus(place, status, wrong) : setsMember(place, 'code', wrong, status),
    );
  }),
);

/**
 * Documented paths on which a wrong server does not answer a forbidden method with 405. Each row has the requests and
 * the wrong status.
 */
const WRONG_METHODS: Readonly<Record<string, readonly [place: Place, status: number]>> = {
  search: [/^PUT .*\/grep$/, 400],
  commit: [/^PUT .*\/repos\/commit$/, 200],
  archive: [/^PUT .*\/archive$/, 501],
  file: [/^PUT .*\/repos\/file$/, 403],
  branches: [/^PUT .*\/branches$/, 204],
  commits: [/^PUT .*\/commits$/, 400],
  diff: [/^PUT .*\/diff$/, 200],
  restore: [/^PUT .*\/restore-commit$/, 400],
  reset: [/^PUT .*\/reset-commits$/, 409],
  'commit-pack': [/^PUT .*\/commit-pack$/, 500],
  notes: [/^PUT .*\/notes$/, 201],
  repositories: ['PUT /api/repos', 200],
  organization: ['PUT /api/meta', 403],
};

/**
 * Wrong code that a mutant (wrong server) sends with each status. The suite can cause these statuses only with faults.
 */
const FAULTS: Readonly<Record<number, string>> = {
  408: 'gateway_timeout',
  412: 'conflict',
  422: 'bad_request',
  429: 'service_unavailable',
  500: 'bad_gateway',
  501: 'internal_error',
  502: 'internal_error',
  503: 'gateway_timeout',
  504: 'request_timeout',
};

/**
 * Operations on which a wrong server sends the code of an invalid token. The correct code says that tokens cannot be
 * verified at the moment.
 */
const UNAVAILABLE: Readonly<Record<string, Place>> = {
  commit: COMMIT,
  commits: COMMITS,
  file: FILE,
  archive: ARCHIVE,
  search: GREP,
  branches: BRANCHES,
  diff: DIFF,
  'commit-pack': PACK,
  note: NOTES,
  restore: RESTORE,
  organization: META_OF_ORGANIZATION,
};

/**
 * Mutants (wrong servers) that send one wrong member in the error body of one operation. `value` is the wrong value,
 * and undefined removes the member. The rule `beside` causes the error, and `rule` must detect the mistake.
 */
const WRONG_MEMBERS: readonly (readonly [
  name: string,
  rule: string,
  place: Place,
  status: number,
  member: string,
  value: unknown,
  beside: string,
])[] = [
  ['stale-head', 'problem.title.string', PACK, 409, 'title', undefined, 'err.generic.409'],
  ['second-note', 'problem.title.string', NOTES, 409, 'title', 7, 'note.action.add.exists'],
  ['bad-pattern', 'problem.detail.string', GREP, 400, 'detail', undefined, 'grep.err.400.regex'],
  ['bad-archive', 'problem.detail.string', ARCHIVE, 400, 'detail', '', 'archive.err.400.json'],
  ['missing-commit', 'problem.code.present', COMMIT, 404, 'code', undefined, 'commit.get.404.commit'],
  ['missing-file', 'problem.code.present', FILE, 404, 'code', '', 'file.err.404.file'],
  ['missing-note', 'problem.error.mirrors-detail', NOTES, 400, 'error', 'Bad.', 'note.note.required'],
  ['missing-ref', 'problem.error.mirrors-detail', GREP, 404, 'error', undefined, 'grep.err.404.ref'],
  ['foreign-key', 'problem.status.integer', GREP, 403, 'status', 401, 'grep.err.403.invalid-jwt'],
  ['missing-token', 'problem.status.integer', REPO, 401, 'status', '401', 'err.generic.401'],
  ['missing-scope', 'problem.code.snake-case', ARCHIVE, 403, 'code', 'insufficientScope', 'archive.err.403'],
  ['wrong-method', 'problem.title.string', 'PUT /api/v1/repo', 405, 'title', undefined, 'err.generic.405'],
  ['wrong-method-of-a-note', 'problem.detail.string', /^PUT .*\/notes$/, 405, 'detail', undefined, 'err.generic.405'],
  ['wrong-method-of-a-file', 'problem.status.integer', /^PUT .*\/file$/, 405, 'status', 400, 'err.generic.405'],
  ['missing-restore', 'problem.code.present', RESTORE, 400, 'code', undefined, 'restore.body.empty'],
  ['large-body', 'problem.instance.string', GREP, 413, 'instance', 7, 'err.generic.413'],
  ['large-archive', 'problem.title.string', ARCHIVE, 413, 'title', undefined, 'err.generic.413'],
  ['thawing-file', 'problem.title.string', FILE, 409, 'title', undefined, 'state.thawing.409'],
  ['thawing-merge', 'problem.code.present', /^POST .*\/merge$/, 409, 'code', undefined, 'state.thawing.409'],
  ['syncing-search', 'problem.detail.string', GREP, 503, 'detail', undefined, 'state.syncing.409'],
  ['syncing-note', 'problem.error.mirrors-detail', NOTES, 409, 'error', undefined, 'state.syncing.409'],
  ['deleted-repository', 'problem.status.integer', BRANCHES, 404, 'status', 410, 'state.deleted.operations'],
  ['missing-claim', 'problem.type.string', REPO, 400, 'type', 7, 'err.specific.repo_claim_missing'],
  [
    'unknown-route',
    'problem.code.present',
    / \/api\/no\/such\/route$/,
    404,
    'code',
    undefined,
    'err.specific.route_not_found',
  ],
  [
    'unknown-route-by-post',
    'problem.detail.string',
    /^POST .*\/no\/such/,
    404,
    'detail',
    '',
    'err.specific.route_not_found',
  ],
  ['wrong-name', 'problem.error.mirrors-detail', CREATE, 400, 'error', 'No.', 'err.specific.repo_name_mismatch'],
];

const isMeant = (place: Place, status: number) => (response: ProxiedResponse) =>
  isAt(place, response.request) && response.status === status;

/** Replaces the body of error responses. Their media type stays the same. */
function setsBody(place: Place, status: number, body: string): Rewrite {
  const isThis = isMeant(place, status);
  return {
    response: (response) => {
      if (isThis(response)) response.body = Buffer.from(body);
    },
  };
}

/**
 * Wrong servers that send an error body that is not a JSON object, such as a list or no body. `beside` is the rule
 * whose request causes the error.
 */
const WRONG_BODIES: readonly (readonly [name: string, place: Place, status: number, body: string, beside: string])[] = [
  ['missing-file-as-nothing', FILE, 404, '', 'file.err.404.file'],
  ['bad-pattern-as-a-list', GREP, 400, '[]', 'grep.err.400.regex'],
  ['stale-head-as-a-text', PACK, 409, '"conflict"', 'err.generic.409'],
  ['second-note-as-plain-text', NOTES, 409, 'A note exists.', 'note.action.add.exists'],
  ['wrong-method-as-nothing', 'PUT /api/v1/repo', 405, '', 'err.generic.405'],
  ['wrong-method-of-metadata-as-nothing', /^DELETE .*\/files\/metadata$/, 405, '', 'filemeta.err.405'],
  ['missing-metadata-as-null', META, 404, 'null', 'filemeta.err.404.ref'],
  ['missing-token-as-html', REPO, 401, '<html></html>', 'err.generic.401'],
];

/** Operations whose 429 response lacks a header on a wrong server. */
const WITHOUT_HEADER: readonly (readonly [what: string, place: Place, header: string])[] = [
  ['note', NOTES, 'retry-after'],
  ['diff', DIFF, 'retry-after'],
  ['fetch', /\/git-upload-pack$/, 'retry-after'],
  ['restore', RESTORE, 'ratelimit'],
  ['organization', META_OF_ORGANIZATION, 'ratelimit'],
  ['file-list', META, 'ratelimit'],
];

export const rows: readonly Mutant[] = [
  ...wrongCodes,
  ...WITHOUT_HEADER.map(([what, place, header]) =>
    proxied(
      `rate-limits-a-${what}-without-${header}`,
      header === 'ratelimit' ? 'rate.429.ratelimit' : 'rate.429.retry-after',
      `sends no ${header} with the 429 for a ${what.replaceAll('-', ' ')}`,
      setsHeader(place, header, undefined, 429),
    ),
  ),
  ...Object.entries(WRONG_METHODS).map(([what, [place, status]]) =>
    proxied(
      `err-answers-a-wrong-method-of-${what}-with-${status}`,
      'err.generic.405#operations',
      `answers a wrong method with ${status} at the path of ${what}`,
      changesStatus(place, 405, status),
    ),
  ),
  proxied(
    'err-calls-a-large-archive-request-bad',
    'err.generic.413#operations',
    'answers a request for an archive that is too large with 400',
    changesStatus(ARCHIVE, 413, 400),
  ),
  ...Object.entries(FAULTS).map(([status, code]) =>
    proxied(
      `err-calls-a-${status}-of-a-commit-${kebab(code)}`,
      `err.generic.${status}#operations`,
      `has the code ${code} with ${status} when it reads a commit`,
      setsMember(COMMIT, 'code', code, Number(status)),
    ),
  ),
  ...Object.entries(UNAVAILABLE).map(([what, place]) =>
    proxied(
      `authfail-hides-from-${what}-that-tokens-cannot-be-verified`,
      'authfail.403.unavailable#everywhere',
      `has the code forbidden at the path of ${what} while tokens cannot be verified`,
      {
        response: (response) => {
          if (!isAt(place, response.request) || !response.body.includes('authentication_unavailable')) return;
          const body = response.body.toString().replaceAll('authentication_unavailable', 'forbidden');
          response.body = Buffer.from(body);
        },
      },
    ),
  ),
  proxied(
    'authfail-serves-git-while-tokens-cannot-be-verified',
    'authfail.403.unavailable#git',
    'answers Git with 200 while tokens cannot be verified',
    changesStatus(REFS, 403, 200),
  ),
  ...WRONG_MEMBERS.map(([name, rule, place, status, member, value, beside]) =>
    proxied(
      `problem-of-a-${name}-has-a-wrong-${member}`,
      rule,
      value === undefined
        ? `omits ${member} for a ${name}`
        : `has the ${member} ${JSON.stringify(value)} for a ${name}`,
      setsMember(place, member, value, status),
      { beside: [beside] },
    ),
  ),
  ...WRONG_BODIES.map(([name, place, status, body, beside]) =>
    proxied(
      `err-sends-a-${name}`,
      'err.error-member#object',
      `sends a ${name.replaceAll('-', ' ')}`,
      setsBody(place, status, body),
      { beside: [beside] },
    ),
  ),
];
