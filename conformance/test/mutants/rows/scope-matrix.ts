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
  REMOTE,
  REPO,
  REPOS,
  RESET,
  RESTORE,
} from '../places.js';
import type { Rewrite } from '../proxy.js';
import type { Place } from '../rewrites.js';
import { isOnTop } from '../streams.js';
import { mendsTokens } from '../tokens.js';

const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'] as const;
type Scope = (typeof SCOPES)[number];

/**
 * Place (method and path) of each operation, and the one scope that it requires. The keys are the names of the
 * operations in rule ids.
 */
const OPERATIONS: Readonly<Record<string, readonly [place: Place, scope: Scope]>> = {
  grep: [GREP, 'git:read'],
  filemeta: [META, 'git:read'],
  commit: [COMMIT, 'git:read'],
  archive: [ARCHIVE, 'git:read'],
  file: [FILE, 'git:read'],
  repo: [REPO, 'git:read'],
  branches: [BRANCHES, 'git:read'],
  commits: [COMMITS, 'git:read'],
  diff: [DIFF, 'git:read'],
  restore: [RESTORE, 'git:write'],
  reset: [RESET, 'git:write'],
  pack: [PACK, 'git:write'],
  notes: [NOTES, 'git:write'],
  'create-repo': [CREATE, 'repo:write'],
  'list-repos': [REPOS, 'org:read'],
  meta: [META_OF_ORGANIZATION, 'org:read'],
  'git-fetch': [REMOTE, 'git:read'],
  'git-push': [REMOTE, 'git:write'],
};

/** Git service in the URL of a fetch and of a push. The keys are the names of the operations in rule ids. */
const SERVICES: Readonly<Record<string, string>> = { 'git-fetch': 'git-upload-pack', 'git-push': 'git-receive-pack' };

/**
 * Operations that may accept further scopes, because the specification does not say so. The only one reads the
 * repository record.
 */
const OPEN_TO_OTHERS = ['repo'];

function slug(scope: Scope): string {
  return scope.replace(':', '-');
}

/**
 * Makes the server accept the scope `given` in place of `taken`. Only affects tokens with no other scope, and requests
 * whose path contains `service`.
 */
function takes(place: Place, given: Scope, taken: Scope, service = ''): Rewrite {
  return mendsTokens(place, ({ claims, scopes }, { path }) =>
    scopes.join() === given && path.includes(service) ? { ...claims, scopes: [taken] } : undefined,
  );
}

/**
 * Makes the server refuse commits on existing branches. First commits still succeed, because rules need them to create
 * their repositories.
 */
const FORBIDS_COMMITS: Rewrite = {
  response: (response) => {
    if (isOnTop(response)) response.status = 403;
  },
};

function cell(operation: string, place: Place, needed: Scope, scope: Scope): Mutant {
  const rule = `scope.matrix.${operation}.${slug(scope)}`;
  if (scope !== needed) {
    const name = `scope-takes-${slug(scope)}-for-${operation}`;
    return proxied(
      name,
      rule,
      `takes ${scope} for ${needed} (${operation})`,
      takes(place, scope, needed, SERVICES[operation]),
    );
  }
  const other = scope === 'org:read' ? 'git:read' : 'org:read';
  const rewrite = operation === 'pack' ? FORBIDS_COMMITS : takes(place, scope, other, SERVICES[operation]);
  return proxied(`scope-wants-more-for-${operation}`, rule, `wants more than ${scope} (${operation})`, rewrite);
}

/** Makes the server perform a push although the token may only read. The response is nevertheless 403. */
const PUSHES_IN_SECRET: Rewrite = {
  ...takes(REMOTE, 'git:read', 'git:write', SERVICES['git-push']),
  response: (response) => {
    if (response.request.path.endsWith('.git/git-receive-pack')) response.status = 403;
  },
};

/** Servers that accept a wrong scope for an operation. There is one for each pair of operation and scope. */
export const rows: readonly Mutant[] = [
  proxied(
    'scope-takes-git-read-for-ephemeral-commits',
    'scope.matrix.pack.git-read#ephemeral',
    'takes git:read for commits to ephemeral branches',
    mendsTokens(PACK, ({ claims, scopes }, { body }) =>
      scopes.join() === 'git:read' && body.includes('"ephemeral":true')
        ? { ...claims, scopes: ['git:write'] }
        : undefined,
    ),
  ),
  proxied(
    'scope-opens-ephemeral-branches-for-git-read',
    'scope.matrix.git-push.git-read#ephemeral',
    'lists the refs for a push to ephemeral branches with git:read',
    mendsTokens(/\+ephemeral\.git\//, ({ claims, scopes }, { path }) =>
      scopes.join() === 'git:read' && path.includes('receive-pack') ? { ...claims, scopes: ['git:write'] } : undefined,
    ),
  ),
  proxied(
    'scope-takes-the-push-that-it-refuses',
    'scope.matrix.git-push.git-read',
    'refuses a push of git:read and takes it',
    PUSHES_IN_SECRET,
  ),
  ...Object.entries(OPERATIONS).flatMap(([operation, [place, needed]]) =>
    SCOPES.filter((scope) => scope === needed || !OPEN_TO_OTHERS.includes(operation)).map((scope) =>
      cell(operation, place, needed, scope),
    ),
  ),
];
