import { type Mutant, patched, proxied } from '../mutant.js';
import { ignoresScope, ignoresSignature, takesFirstRepository } from '../patches.js';
import { COMMIT } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesMain, changesQuery, changesStatus, setsMember } from '../rewrites.js';

/** Changes the revision in requests for one commit, if it matches the pattern. */
function changesRevision(pattern: RegExp, change: (revision: string) => string): Rewrite {
  return changesQuery(COMMIT, (query) => {
    const sha = query.get('sha');
    if (sha !== null && pattern.test(sha)) query.set('sha', change(sha));
  });
}

export const rows: readonly Mutant[] = [
  proxied(
    'commit-takes-hexadecimal-names-for-shas',
    'commit.get.branch#hexadecimal',
    'takes the name of a branch for an abbreviated SHA if it has only hexadecimal digits',
    changesQuery(COMMIT, (query) => {
      const sha = query.get('sha') ?? '';
      if (/^[0-9a-f]{8}$/.test(sha) && /feed/.test(sha)) query.set('sha', '0'.repeat(40));
    }),
  ),
  proxied(
    'commit-finds-the-beginning-of-a-name',
    'commit.get.404.commit#similar',
    'finds the branch with whose name a longer name begins',
    changesMain(COMMIT, /^mainx$/, 'sha'),
  ),
  proxied(
    'commit-cuts-branches-at-a-slash',
    'commit.get.branch#slash',
    'reads the name of a branch up to the first slash',
    changesRevision(/^topic\//, (revision) => revision.replace(/\/.*/, '')),
  ),
  proxied(
    'commit-tells-which-files-a-commit-touched',
    'commit.get.no-diff',
    'tells which files a commit touched',
    setsMember(COMMIT, 'commit.touched', ['README.md']),
  ),
  proxied('commit-takes-head-where-nothing-is-named', 'commit.get.sha.missing', 'takes HEAD where nothing is named', {
    request: (request) => {
      if (request.path === '/api/v1/repos/commit') request.path += '?sha=HEAD';
    },
  }),

  proxied('commit-answers-206', 'commit.get.route', 'answers with 206', changesStatus(COMMIT, 200, 206)),
  patched(
    'commit-looks-into-the-first-repository',
    'commit.get.repo-from-claim',
    'looks into the first repository of the organization',
    takesFirstRepository('getCommit'),
  ),
  proxied(
    'commit-takes-digits-for-branches',
    'commit.get.full-sha',
    'takes forty digits for the name of a branch',
    changesRevision(/^[0-9a-f]{40}$/, (sha) => `refs/heads/${sha}`),
  ),
  proxied(
    'commit-wants-forty-digits',
    'commit.get.short-sha',
    'knows no shortened SHA',
    changesRevision(/^[0-9a-f]{4,39}$/, (sha) => sha.padEnd(40, '0')),
  ),
  proxied(
    'commit-knows-no-branches',
    'commit.get.branch',
    'knows no branch but the default one',
    changesRevision(/^feature$/, () => 'main'),
  ),
  proxied(
    'commit-knows-no-tags',
    'commit.get.tag',
    'takes the name of a tag for that of a branch',
    changesRevision(/^v\d$/, (tag) => `refs/heads/${tag}`),
  ),
  patched('commit-shows-the-tag', 'commit.get.annotated-tag', 'shows the id of a tag as that of its commit', {
    file: 'api/operations/commits.js',
    find: 'showSignedCommit(repository.git.objects, commit)',
    replace: `{
      ...showSignedCommit(repository.git.objects, commit),
      sha: repository.git.refs.get('refs/tags/' + ref) ?? commit,
    }`,
  }),
  proxied(
    'commit-takes-head-where-the-name-is-empty',
    'commit.get.sha.empty',
    'takes HEAD where the name is empty',
    changesRevision(/^$/, () => 'HEAD'),
  ),
  proxied(
    'commit-takes-a-missing-commit-for-a-mistake',
    'commit.get.404.commit',
    'answers a commit that does not exist with 400',
    changesStatus(COMMIT, 404, 400),
  ),
  proxied(
    'commit-forbids-without-a-token',
    'commit.get.401.no-header',
    'answers a request without a token with 403',
    changesStatus(COMMIT, 401, 403),
  ),
  patched(
    'commit-ignores-the-signature',
    'commit.get.401.invalid-jwt',
    'does not look at the signature of a token',
    ignoresSignature('getCommit'),
  ),
  patched(
    'commit-ignores-scopes',
    'commit.get.scope',
    'shows a commit to a token of any scope',
    ignoresScope('getCommit'),
  ),
  proxied(
    'commit-forbids-a-missing-repository',
    'commit.get.404.repo',
    'answers for a missing repository with 403',
    changesStatus(COMMIT, 404, 403),
  ),
  patched(
    'commit-looks-into-the-history-of-the-default-branch',
    ['commit.get.full-sha#side-branch', 'commit.get.short-sha#side-branch'],
    'finds only commits in the history of the default branch by their SHA',
    {
      file: 'api/operations/commits.js',
      find: "const { commit } = await resolveRef(ctx, { ref, ephemeral: query.ref_is_ephemeral, missing: 'missingCommit' });",
      replace: `const { commit } = await resolveRef(ctx, { ref, ephemeral: query.ref_is_ephemeral, missing: 'missingCommit' });
      if (/^[0-9a-f]{7,40}$/.test(ref)) {
        const { git } = repository;
        const log = [...git.history.logEach({ tips: [git.refs.headOid] })];
        if (!log.includes(commit)) throw problem('ref_not_found', 'No such commit.');
      }`,
    },
  ),
  proxied(
    'commit-wants-eight-digits',
    'commit.get.short-sha#seven-digits',
    'knows no SHA of fewer than eight digits',
    changesRevision(/^[0-9a-f]{4,7}$/, (sha) => sha.padEnd(40, '0')),
  ),
  proxied(
    'commit-wants-at-most-sixteen-digits-or-forty',
    'commit.get.short-sha#any-length',
    'knows no short SHA of more than 16 digits',
    changesRevision(/^[0-9a-f]{17,39}$/, (sha) => sha.padEnd(40, '0')),
  ),
  proxied(
    'commit-takes-head-for-an-unknown-name',
    'commit.get.404.commit#name',
    'takes HEAD for a name that nothing has',
    changesRevision(/^no-such-name/, () => 'HEAD'),
  ),
  proxied(
    'commit-takes-head-for-an-unknown-short-sha',
    'commit.get.404.commit#short-sha',
    'takes HEAD for a short SHA that no commit has',
    changesRevision(/^5ca1ab1e[0-9a-f]{1,31}$/, () => 'HEAD'),
  ),
  proxied(
    'commit-knows-no-head',
    'commit.get.revision-syntax#head',
    'takes HEAD for the name of a branch',
    changesRevision(/^HEAD$/, () => 'refs/heads/HEAD'),
  ),
  proxied(
    'commit-goes-one-commit-back-at-most',
    'commit.get.revision-syntax#ancestors',
    'takes every ancestor for the parent',
    changesRevision(/~\d+$/, (revision) => revision.replace(/~\d+$/, '~1')),
  ),
  proxied(
    'commit-peels-no-tags',
    'commit.get.revision-syntax#peeling',
    'takes the signs ^{commit} for a part of the name',
    changesRevision(/\^\{commit\}$/, (revision) => `refs/heads/${revision.slice(0, 2)}-commit`),
  ),
  proxied(
    'commit-knows-no-capitals',
    'commit.get.revision-syntax#capitals',
    'takes an SHA in capital letters for the name of a branch',
    changesRevision(/^(?=.*[A-F])[0-9A-F]{40}$/, (sha) => `refs/heads/${sha}`),
  ),
  proxied(
    'commit-knows-no-full-refs',
    'commit.get.revision-syntax#full-refs',
    'takes the full name of a tag for the name of a branch',
    changesRevision(/^refs\/tags\//, (revision) => `refs/heads/${revision}`),
  ),
];
