import { type Mutant, patched, proxied } from '../mutant.js';
import { HIDDEN_FROM_GIT } from '../patches.js';
import { COMMIT, REFS, REMOTE } from '../places.js';
import { changesJson, changesStatus, isAt, setsHeader } from '../rewrites.js';
import { mendsTokens, repositoryIn } from '../tokens.js';

interface ShownCommit {
  commit: { sha: string; parent_shas: string[] };
}

/** Ref advertisement without any refs, as gitprotocol-http specifies in "Smart Server Response". */
const NO_REFS = '001e# service=git-upload-pack\n00000000';

export const rows: readonly Mutant[] = [
  proxied(
    'git-opens-ephemeral-branches-of-all-repositories',
    'git.wrong-repo#ephemeral',
    'does not compare the repository of a token with the remote for ephemeral branches',
    mendsTokens(/\+ephemeral\.git\//, ({ claims }, request) => ({
      ...claims,
      repo: repositoryIn(request)?.replace('+ephemeral', ''),
    })),
  ),
  proxied(
    'git-refuses-git-without-asking-for-a-password',
    'git.challenge.401',
    'refuses Git without asking for a password',
    changesStatus(REFS, 401, 403),
  ),
  proxied(
    'git-asks-git-for-nothing',
    'git.challenge.header',
    'asks Git for nothing',
    setsHeader(REFS, 'www-authenticate'),
  ),
  proxied('git-shows-git-no-refs', 'git.remote.form', 'shows Git no refs', {
    response: (response) => {
      if (isAt(REFS, response.request) && response.status === 200) response.body = Buffer.from('0000');
    },
  }),
  proxied('git-takes-another-user', 'git.remote.user-t', 'takes the user name git only', {
    request: (request) => {
      const { authorization = '' } = request.headers;
      const user = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':', 1)[0];
      if (isAt(REFS, request) && user === 't') delete request.headers.authorization;
    },
  }),
  proxied('git-takes-bearer-only', 'git.basic.accepted', 'takes no token as a password', {
    request: (request) => {
      if (isAt(REMOTE, request) && request.headers.authorization?.startsWith('Basic ')) {
        request.headers.authorization = 'Basic dDo=';
      }
    },
  }),
  proxied(
    'git-reads-without-checking-the-token',
    'git.invalid-token',
    'does not check the signature of a token that Git sends',
    mendsTokens(REMOTE, ({ claims, isSignedBy }) => (isSignedBy('es256') ? undefined : claims)),
  ),
  proxied(
    'git-reads-after-the-end-of-a-token',
    'git.invalid-token',
    'takes tokens from Git that have expired',
    mendsTokens(REMOTE, ({ claims }) => ({ ...claims, exp: undefined })),
  ),
  proxied(
    'git-reads-other-repositories',
    'git.wrong-repo',
    'lets Git read the repository of the path, whatever the token names',
    mendsTokens(REMOTE, ({ claims }, request) => ({ ...claims, repo: repositoryIn(request) })),
  ),
  proxied(
    'git-takes-a-missing-repository-for-empty',
    'git.missing-repo',
    'shows a missing repository as an empty one',
    {
      response: (response) => {
        if (!isAt(REFS, response.request) || response.status !== 404) return;
        response.status = 200;
        response.body = Buffer.from(NO_REFS);
      },
    },
  ),
  proxied(
    'git-needs-no-repo',
    'git.no-repo-claim',
    'lets a token without repo read the repository of the path',
    mendsTokens(REMOTE, ({ claims }, request) => ({ repo: repositoryIn(request), ...claims })),
  ),
  patched('git-keeps-the-first-list-of-refs', 'git.fetch', 'keeps the refs that it has shown once', {
    file: 'smart-http/ref-listings.js',
    find: 'kept.refs !== refs',
    replace: 'kept.refs === undefined',
  }),
  patched('git-moves-no-ref', 'git.push', 'reports refs as pushed that it did not move', {
    file: 'smart-http/receive-pack.js',
    find: 'transaction.update(change);',
    replace: 'if (change === undefined) transaction.update(change);',
  }),
  patched(
    'git-does-not-see-the-api',
    'git.visibility.api-to-git',
    'hides from Git what the API wrote',
    HIDDEN_FROM_GIT,
  ),
  proxied(
    'git-is-not-seen-by-the-api',
    'git.visibility.git-to-api',
    'shows the API a branch as it was one commit ago',
    changesJson<ShownCommit>(
      COMMIT,
      ({ commit }, { request }) => {
        if (request.path.endsWith('=main')) commit.sha = commit.parent_shas[0] ?? commit.sha;
      },
      200,
    ),
  ),
];
