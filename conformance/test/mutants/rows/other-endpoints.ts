import { type Mutant, patched, proxied } from '../mutant.js';
import { BRANCHES, COMMITS, CREATE, META_OF_ORGANIZATION, REPOS } from '../places.js';
import { changesJson, changesRequest, changesStatus, ignoresMember, isAt, setsMember } from '../rewrites.js';
import { mendsTokens } from '../tokens.js';

interface CreateBody {
  repo_name?: string;
}

export const rows: readonly Mutant[] = [
  proxied('other-finds-no-branches', 'other.branches.exists', 'finds no branches', changesStatus(BRANCHES, 200, 404)),
  proxied(
    'other-finds-nothing-to-compare',
    'other.diff.exists',
    'finds nothing to compare',
    changesStatus(/v1\/repos\/diff$/, 200, 404),
  ),
  proxied(
    'other-shows-the-organization-to-anybody',
    'other.err.401.no-header',
    'shows the organization to anybody',
    changesStatus(META_OF_ORGANIZATION, 401, 200),
  ),
  proxied(
    'other-lists-branches-without-cursors',
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
  proxied(
    'other-lists-repositories-in-part',
    'other.list-repos.exists',
    'answers a list with 206',
    changesStatus(REPOS, 200, 206),
  ),
  proxied(
    'other-numbers-new-repositories',
    'other.create.exists',
    'adds a number to the name of a new repository',
    mendsTokens(CREATE, ({ claims }) => ({ ...claims, repo: `${claims.repo}-1` })),
  ),
  proxied(
    'other-creates-with-another-id',
    'other.create.exists#record',
    'returns a repo_id for a new repository that is not the repo_id of its record',
    setsMember(CREATE, 'repo_id', 'repo-0', 201),
  ),
  proxied(
    'other-takes-no-name-in-the-body',
    'other.create.body.equal',
    'takes no name in the body',
    changesRequest<CreateBody>(CREATE, (body) => {
      if (body.repo_name !== undefined) body.repo_name = '';
    }),
  ),
  proxied('other-wants-a-body', 'other.create.body.absent', 'wants a body of a creation', {
    request: (request) => {
      if (isAt(CREATE, request) && request.body.length === 0) {
        request.headers['content-type'] = 'application/json';
        request.body = Buffer.from('null');
      }
    },
  }),
  proxied(
    'other-ignores-the-name-in-the-body',
    'other.create.body.mismatch',
    'does not look at repo_name',
    ignoresMember(CREATE, 'repo_name'),
  ),
  proxied(
    'other-ignores-a-name-beside-a-base',
    'other.create.body.mismatch#base',
    'does not look at repo_name if the body has base_repo',
    changesRequest<CreateBody>(CREATE, (body) => {
      if ('base_repo' in body) delete body.repo_name;
    }),
  ),
  proxied(
    'other-ignores-an-empty-name-in-the-body',
    'other.create.body.mismatch#empty',
    'takes an empty repo_name for an absent one',
    changesRequest<CreateBody>(CREATE, (body) => {
      if (body.repo_name === '') delete body.repo_name;
    }),
  ),
  patched(
    'other-creates-what-it-refuses',
    'other.create.body.mismatch',
    'looks at repo_name once the repository is there',
    [
      {
        file: 'api/operations/repositories.js',
        find: 'body.repo_name !== undefined && body.repo_name !== name',
        replace: 'false',
      },
      {
        file: 'api/operations/repositories.js',
        find: "return created(ctx, create(ctx, base, 'main'));",
        replace: `{
          const reply = created(ctx, create(ctx, base, 'main'));
          if (body.repo_name !== undefined && body.repo_name !== name) throw problem('repo_name_mismatch', 'Another name.');
          return reply;
        }`,
      },
    ],
  ),
  proxied(
    'other-has-no-metadata',
    'other.meta.exists',
    'has no metadata of the organization',
    changesStatus(META_OF_ORGANIZATION, 200, 404),
  ),
  proxied(
    'other-lists-commits-in-part',
    'other.commits.exists',
    'answers a list of commits with 206',
    changesStatus(COMMITS, 200, 206),
  ),
];
