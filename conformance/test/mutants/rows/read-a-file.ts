import { type Mutant, patched, proxied } from '../mutant.js';
import { tokenMutants } from '../operation-tokens.js';
import { FILE } from '../places.js';
import { assumesParameter, changesMain, changesStatus, ignoresParameter, isAt, setsHeader } from '../rewrites.js';
import { takesRepositoryFromQuery } from '../tokens.js';

export const rows: readonly Mutant[] = [
  proxied('file-minifies-json', 'file.bytes#formats', 'removes white space from JSON files', {
    response: (response) => {
      if (!isAt(FILE, response.request) || !response.request.path.includes('.json')) return;
      response.body = Buffer.from(response.body.toString().replaceAll(/\s+/g, ''));
    },
  }),
  proxied(
    'file-ignores-letters-of-refs',
    'file.err.404.ref#similar',
    'finds a branch in other letters',
    changesMain(FILE, /^MAIN$/),
  ),
  proxied('file-changes-a-byte', 'file.bytes', 'changes a byte', {
    response: ({ request, status, body }) => {
      if (isAt(FILE, request) && status === 200 && body.length > 0) body.writeUInt8(body.readUInt8() ^ 1);
    },
  }),
  proxied(
    'file-ignores-ephemeral',
    'file.ephemeral.true',
    'does not look at ephemeral',
    ignoresParameter(FILE, 'ephemeral'),
  ),
  proxied('file-answers-206', 'file.route', 'answers 206 with the whole file', changesStatus(FILE, 200, 206)),
  patched('file-keeps-bytes-by-path', 'file.repo-from-claim', 'keeps bytes by path, whatever the repository', {
    file: 'api/operations/files.js',
    find: 'const body = await runYielding(readStepsAs(git.objects, entry.oid, BLOB), meter);',
    replace:
      'const files = (ctx.world.keptFiles ??= new Map()); const body = files.get(path) ?? (await runYielding(readStepsAs(git.objects, entry.oid, BLOB), meter)); files.set(path, body);',
  }),
  proxied(
    'file-sends-no-content-type',
    'file.content-type',
    'sends no Content-Type',
    setsHeader(FILE, 'content-type', undefined, 200),
  ),
  proxied(
    'file-derives-content-type-from-the-extension',
    'file.content-type#no-extension',
    'sends no Content-Type if the name of the file has no extension',
    {
      response: ({ request, headers }) => {
        const path = new URLSearchParams(request.path.split('?')[1]).get('path');
        if (isAt(FILE, request) && path !== null && !path.includes('.')) delete headers['content-type'];
      },
    },
  ),
  proxied(
    'file-takes-the-repository-from-the-query',
    'file.repo-from-claim#query',
    'takes the repository from the query',
    takesRepositoryFromQuery(FILE),
  ),
  proxied('file-ignores-letters-of-paths', 'file.err.404.file#letters', 'finds a path in other letters', {
    request: (request) => {
      if (isAt(FILE, request)) request.path = request.path.replace(/path=readme\.md(?=&|$)/i, 'path=README.md');
    },
  }),
  proxied(
    'file-reads-the-readme-by-default',
    'file.path.required',
    'reads the README where no path is named',
    assumesParameter(FILE, 'path', 'README.md'),
  ),
  proxied('file-keeps-paths-inside', 'file.path.invalid', 'drops .. from paths', {
    request: (request) => {
      if (isAt(FILE, request)) request.path = request.path.replace(/\.\.(\/|%2F)/g, '');
    },
  }),
  proxied('file-decodes-no-slash', 'file.path.nested', 'does not decode slashes in paths', {
    request: (request) => {
      if (isAt(FILE, request)) request.path = request.path.replaceAll('%2F', '%252F');
    },
  }),
  proxied(
    'file-reads-a-release-by-default',
    'file.ref.default',
    'reads the first tag where no ref is named',
    assumesParameter(FILE, 'ref', 'v1'),
  ),
  proxied(
    'file-ignores-the-ref',
    ['file.ref.branch', 'file.ref.sha'],
    'does not look at ref',
    ignoresParameter(FILE, 'ref'),
  ),
  patched(
    'file-falls-back-to-ordinary-branches',
    'file.ephemeral.unresolvable',
    'reads the ordinary branch where there is no ephemeral one',
    {
      file: 'api/operations/files.js',
      find: 'await resolveRef(ctx, { ref: query.ref, ephemeral: query.ephemeral, tags, missing })',
      replace:
        'await resolveRef(ctx, { ref: query.ref, ephemeral: query.ephemeral, tags, missing }).catch(() => resolveRef(ctx, { ref: query.ref }))',
    },
  ),
  proxied('file-takes-a-missing-file-for-empty', 'file.err.404.file', 'answers 200 and nothing for a missing file', {
    response: (response) => {
      if (!isAt(FILE, response.request) || response.status !== 404) return;
      response.status = 200;
      response.body = Buffer.alloc(0);
    },
  }),
  proxied(
    'file-calls-a-missing-ref-a-bad-request',
    'file.err.404.ref',
    'calls a missing ref a bad request',
    changesStatus(FILE, 404, 400),
  ),
  ...tokenMutants('file', FILE, 'git:read', {
    noHeader: 'file.err.401.no-header',
    invalid: 'file.err.401.invalid-jwt',
    scope: 'file.err.scope',
    missingRepo: 'file.err.404.repo',
  }),
  proxied(
    'file-sends-no-content-type-of-an-empty-file',
    'file.content-type#empty',
    'sends no Content-Type for an empty file',
    {
      response: ({ request, headers, body }) => {
        if (isAt(FILE, request) && body.length === 0) delete headers['content-type'];
      },
    },
  ),
];
