import { type Mutant, patched, proxied } from '../mutant.js';
import { ignoresScope, ignoresSignature, takesFirstRepository } from '../patches.js';
import { META } from '../places.js';
import {
  assumesParameter,
  changesJson,
  changesMain,
  changesQuery,
  changesStatus,
  ignoresParameter,
  isAt,
  setsMember,
} from '../rewrites.js';
import { takesRepositoryFromQuery } from '../tokens.js';

export const rows: readonly Mutant[] = [
  proxied('filemeta-refuses-cursors', 'filemeta.unpaginated.limit#cursor', 'answers a request with cursor with 400', {
    response: (response) => {
      if (isAt(META, response.request) && response.request.path.includes('cursor=')) response.status = 400;
    },
  }),
  proxied(
    'filemeta-completes-refs',
    'filemeta.err.404.ref#similar',
    'completes the beginning of the name of a branch',
    changesMain(META, /^mai$/),
  ),
  proxied(
    'filemeta-answers-with-an-empty-object',
    'filemeta.err.body',
    'answers with an empty object',
    changesJson(META, () => ({}), 404),
  ),
  proxied('filemeta-ignores-ref', 'filemeta.ref.branch', 'does not look at ref', ignoresParameter(META, 'ref')),
  proxied(
    'filemeta-lists-main-without-a-default-branch',
    'filemeta.ref.fallback-head',
    'lists main without a default branch',
    assumesParameter(META, 'ref', 'main'),
  ),
  proxied(
    'filemeta-lists-nothing-without-head',
    'filemeta.ref.fallback-main',
    'lists nothing without HEAD',
    setsMember(META, 'files', [], 200),
  ),
  proxied(
    'filemeta-calls-too-many-commits-too-large',
    'filemeta.err.429.too-many',
    'calls too many commits too large',
    changesStatus(META, 429, 413),
  ),
  proxied(
    'filemeta-repeats-what-was-passed-as-ref',
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
  proxied(
    'filemeta-takes-the-repository-from-the-query',
    'filemeta.repo-from-claim#query',
    'takes the repository from the query',
    takesRepositoryFromQuery(META),
  ),
  proxied('filemeta-answers-206', 'filemeta.route', 'answers with 206', changesStatus(META, 200, 206)),
  patched(
    'filemeta-lists-the-first-repository',
    'filemeta.repo-from-claim',
    'lists the first repository of the organization',
    takesFirstRepository('fileMetadata'),
  ),
  proxied(
    'filemeta-lists-the-first-branch',
    'filemeta.ref.default-branch#branch',
    'lists the first branch by name unless asked',
    assumesParameter(META, 'ref', 'feature'),
  ),
  proxied(
    'filemeta-leaves-out-dotfiles',
    'filemeta.ref.default-branch#whole',
    'leaves out files whose names begin with a dot',
    changesJson<{ files?: { path: string }[] }>(META, (body) => {
      body.files = body.files?.filter(({ path }) => !/(^|\/)\./.test(path)) ?? [];
    }),
  ),
  proxied(
    'filemeta-ignores-commits',
    'filemeta.ref.sha',
    'lists the default branch where a commit is named',
    changesQuery(META, (query) => {
      if (/^[0-9a-f]{40}$/.test(query.get('ref') ?? '')) query.delete('ref');
    }),
  ),
  proxied(
    'filemeta-ignores-ephemeral',
    'filemeta.ephemeral.true',
    'does not look at ephemeral',
    ignoresParameter(META, 'ephemeral'),
  ),
  proxied(
    'filemeta-takes-false-for-true',
    'filemeta.ephemeral.shadow',
    'takes ephemeral for true whatever it says',
    changesQuery(META, (query) => {
      if (query.has('ephemeral')) query.set('ephemeral', 'true');
    }),
  ),
  proxied(
    'filemeta-hides-what-is-inherited',
    'filemeta.ephemeral.not-filter',
    'lists of an ephemeral branch what it changed',
    changesJson<{ files: { last_commit_sha: string }[]; commits: object }>(
      META,
      (body, { request }) => {
        const [newest] = body.files.slice(-1);
        if (request.path.includes('ephemeral=true'))
          body.files = body.files.filter((file) => file.last_commit_sha === newest?.last_commit_sha);
      },
      200,
    ),
  ),
  proxied(
    'filemeta-takes-anything-for-false',
    'filemeta.ephemeral.invalid',
    'takes for false what is neither true nor false',
    changesQuery(META, (query) => {
      if (query.get('ephemeral') === 'maybe') query.set('ephemeral', 'false');
    }),
  ),
  proxied(
    'filemeta-takes-ephemeral-in-any-case',
    'filemeta.ephemeral.invalid',
    'takes True and FALSE for true and false',
    changesQuery(META, (query) => {
      const value = query.get('ephemeral')?.toLowerCase();
      if (value === 'true' || value === 'false') query.set('ephemeral', value);
    }),
  ),
  proxied(
    'filemeta-takes-ephemeral-as-a-number',
    'filemeta.ephemeral.invalid',
    'takes 1 and 0 for true and false',
    changesQuery(META, (query) => {
      const value = query.get('ephemeral');
      if (value === '1' || value === '0') query.set('ephemeral', value === '1' ? 'true' : 'false');
    }),
  ),
  patched(
    'filemeta-falls-back-to-ordinary-branches',
    'filemeta.ephemeral.unresolvable',
    'lists an ordinary branch where no ephemeral one has the name',
    {
      file: 'api/operations/file-metadata.js',
      find: 'await resolveRef(ctx, { ref, ephemeral, tags, missing })',
      replace:
        'await resolveRef(ctx, { ref, ephemeral, tags, missing }).catch(() => resolveRef(ctx, { ref, ephemeral: false, tags }))',
    },
  ),
  proxied(
    'filemeta-lists-a-thousand-files',
    'filemeta.resp.files',
    'lists a thousand files at most',
    changesJson<{ files: object[] }>(
      META,
      (body) => {
        body.files = body.files.slice(0, 1000);
      },
      200,
    ),
  ),
  proxied(
    'filemeta-pages',
    'filemeta.unpaginated.fields',
    'says that there is no other page',
    setsMember(META, 'has_more', false, 200),
  ),
  proxied(
    'filemeta-forbids-without-a-token',
    'filemeta.err.401.missing',
    'answers a request without a token with 403',
    changesStatus(META, 401, 403),
  ),
  patched(
    'filemeta-ignores-the-signature',
    'filemeta.err.401.invalid',
    'does not look at the signature of a token',
    ignoresSignature('fileMetadata'),
  ),
  patched(
    'filemeta-ignores-scopes',
    'filemeta.err.403.scope',
    'lists files for a token of any scope',
    ignoresScope('fileMetadata'),
  ),
  proxied(
    'filemeta-forbids-a-missing-repository',
    'filemeta.err.404.repo',
    'answers for a missing repository with 403',
    changesStatus(META, 404, 403),
  ),
  proxied(
    'filemeta-takes-a-missing-ref-for-a-mistake',
    'filemeta.err.404.ref',
    'answers a ref that does not exist with 400',
    changesStatus(META, 404, 400),
  ),
  proxied(
    'filemeta-hides-other-methods',
    'filemeta.err.405',
    'answers any method but GET with 404',
    changesStatus(/\/v1\/repos\/files\/metadata$/, 405, 404),
  ),
  patched('filemeta-notes-a-cancelled-request', 'filemeta.err.408', 'notes a cancelled request as 499', {
    file: 'pipeline/outcome.js',
    find: "isTimeout ? 'request_timeout' : 'request_canceled'",
    replace: "'request_canceled'",
  }),
  proxied(
    'filemeta-is-a-bad-gateway',
    'filemeta.err.500',
    'answers an unexpected failure with 502',
    changesStatus(META, 500, 502),
  ),
  proxied(
    'filemeta-is-locked-while-it-thaws',
    'filemeta.err.503.thawing',
    'answers with 423 in cold storage',
    changesStatus(META, 503, 423),
  ),
  proxied(
    'filemeta-is-too-early-while-it-syncs',
    'filemeta.err.503.syncing',
    'answers with 425 while it is synced',
    changesStatus(META, 503, 425),
  ),
  proxied(
    'filemeta-times-out-without-a-replica',
    'filemeta.err.503.replica',
    'answers with 504 without a replica',
    changesStatus(META, 503, 504),
  ),
  proxied(
    'filemeta-breaks-without-storage',
    'filemeta.err.503.storage',
    'answers with 500 without storage',
    changesStatus(META, 503, 500),
  ),
  proxied(
    'filemeta-shows-main-for-a-sha',
    'filemeta.resp.ref#sha',
    'shows main as ref if the request has a SHA',
    changesJson<{ ref: string }>(
      META,
      (body, { request }) => {
        if (/[?&]ref=[0-9a-f]{40}(&|$)/.test(request.path)) body.ref = 'main';
      },
      200,
    ),
  ),
];
