import { gunzipSync } from 'node:zlib';
import { type Mutant, patched, proxied } from '../mutant.js';
import { tokenMutants } from '../operation-tokens.js';
import { ARCHIVE } from '../places.js';
import {
  changesMember,
  changesRequest,
  changesStatus,
  ignoresMember,
  isAt,
  setsHeader,
  takesFirstItem,
} from '../rewrites.js';

interface ArchiveBody {
  ref?: string;
  max_blob_size?: unknown;
}

/** Returns true if a tar archive contains no file. It may be empty or contain only the global pax header. */
function isEmptyTar(tar: Buffer): boolean {
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    if (tar[at + 156] === 0x30) return false;
    at += 512 + Math.ceil(Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8) / 512) * 512;
  }
  return true;
}

export const rows: readonly Mutant[] = [
  proxied(
    'archive-ignores-letters-of-refs',
    'archive.err.ref#similar',
    'finds a branch in other letters',
    changesMember(ARCHIVE, 'ref', (ref) => (ref === 'MAIN' ? 'main' : ref)),
  ),
  proxied(
    'archive-calls-an-archive-bytes',
    'archive.header.content-type',
    'calls an archive bytes',
    setsHeader(ARCHIVE, 'content-type', 'application/octet-stream'),
  ),
  proxied(
    'archive-lets-archives-be-stored',
    'archive.header.cache-control',
    'lets archives be stored',
    setsHeader(ARCHIVE, 'cache-control', 'public'),
  ),
  proxied(
    'archive-calls-every-archive-alike',
    'archive.header.disposition',
    'calls every archive alike',
    setsHeader(ARCHIVE, 'content-disposition', 'attachment; filename="archive-1.tar.gz"'),
  ),
  proxied(
    'archive-packs-nothing-where-there-is-a-prefix',
    'archive.prefix.dotdot',
    'packs nothing where there is a prefix',
    {
      request: (request) => {
        if (!isAt(ARCHIVE, request) || !request.body.includes('"a/b"')) return;
        request.body = Buffer.from('{"include_globs":["no.thing"]}');
      },
    },
  ),
  proxied(
    'archive-ignores-max-blob-size',
    'archive.max_blob_size',
    'does not look at max_blob_size',
    ignoresMember(ARCHIVE, 'max_blob_size'),
  ),
  proxied('archive-packs-main-without-a-default-branch', 'archive.ref.head', 'packs main without a default branch', {
    request: (request) => {
      if (isAt(ARCHIVE, request)) request.body = Buffer.from('{"ref":"main"}');
    },
  }),
  proxied(
    'archive-ignores-the-prefix',
    'archive.prefix',
    'does not look at the prefix',
    ignoresMember(ARCHIVE, 'prefix'),
  ),
  patched('archive-packs-nothing-executable', 'archive.route', 'packs files without their executable bits', {
    file: 'git/archive/tar.js',
    find: 'executable ? 0o775 : 0o664',
    replace: '0o664',
  }),
  patched(
    'archive-packs-the-repository-packed-before',
    'archive.repo-from-claim',
    'keeps archives by ref, whatever the repository',
    {
      file: 'api/operations/archive.js',
      find: 'const content = writeArchive(repository.git.objects, {\n            commit,',
      replace:
        'const kept = (ctx.world.packedFirst ??= { repository, commit }); const content = writeArchive(kept.repository.git.objects, {\n            commit: kept.commit,',
    },
  ),
  proxied(
    'archive-packs-a-feature-by-default',
    'archive.ref.default',
    'packs another branch than the default one',
    changesRequest<ArchiveBody>(ARCHIVE, (body) => {
      body.ref ??= 'feature';
    }),
  ),
  proxied(
    'archive-takes-an-empty-ref-for-a-name',
    'archive.ref.empty',
    'looks for a ref without a name',
    changesRequest<ArchiveBody>(ARCHIVE, (body) => {
      if (body.ref === '') body.ref = 'refs/heads/';
    }),
  ),
  proxied('archive-ignores-the-ref', 'archive.ref.branch', 'does not look at ref', ignoresMember(ARCHIVE, 'ref')),
  proxied(
    'archive-ignores-include-globs',
    'archive.include_globs',
    'does not look at include_globs',
    ignoresMember(ARCHIVE, 'include_globs'),
  ),
  ...['include_globs', 'exclude_globs'].map((name) =>
    proxied(
      `archive-takes-the-first-of-${name.replace('_', '-')}`,
      `archive.${name}#second`,
      `uses only the first item of ${name}`,
      takesFirstItem(ARCHIVE, name),
    ),
  ),
  proxied('archive-finds-nothing-to-pack', 'archive.include_globs.none', 'answers 404 where there is nothing to pack', {
    response: (response) => {
      if (!isAt(ARCHIVE, response.request) || response.status !== 200) return;
      if (isEmptyTar(gunzipSync(response.body))) response.status = 404;
    },
  }),
  proxied(
    'archive-ignores-exclude-globs',
    'archive.exclude_globs',
    'does not look at exclude_globs',
    ignoresMember(ARCHIVE, 'exclude_globs'),
  ),
  proxied(
    'archive-leaves-out-files-of-just-that-size',
    'archive.max_blob_size.equal',
    'leaves out files of exactly max_blob_size bytes',
    changesRequest<ArchiveBody>(ARCHIVE, (body) => {
      if (typeof body.max_blob_size === 'number') body.max_blob_size -= 1;
    }),
  ),
  proxied(
    'archive-passes-over-an-odd-size',
    'archive.max_blob_size.invalid',
    'passes over a max_blob_size that it cannot read',
    changesRequest<ArchiveBody>(ARCHIVE, (body) => {
      if (typeof body.max_blob_size !== 'number' || body.max_blob_size < 0) delete body.max_blob_size;
    }),
  ),
  proxied('archive-takes-what-is-no-json-for-nothing', 'archive.err.400.json', 'takes what is no JSON for nothing', {
    request: (request) => {
      if (isAt(ARCHIVE, request) && request.body.toString() === '{') request.body = Buffer.from('{}');
    },
  }),
  patched(
    'archive-packs-the-default-branch-for-a-missing-ref',
    'archive.err.ref',
    'packs the default branch where the ref does not exist',
    {
      file: 'api/operations/archive.js',
      find: 'resolveRef(ctx, { ref: body.ref, ephemeral: body.ephemeral, missing })',
      replace:
        'resolveRef(ctx, { ref: body.ref, ephemeral: body.ephemeral, missing }).catch(() => resolveRef(ctx, { ref: undefined }))',
    },
  ),
  ...tokenMutants('archive', ARCHIVE, 'git:read', {
    noHeader: 'archive.err.401',
    invalid: 'archive.err.401.invalid-jwt',
    scope: 'archive.err.403',
    missingRepo: 'archive.err.404.repo',
  }),
  proxied(
    'archive-calls-its-own-failure-unavailable',
    'archive.err.500',
    'calls a failure of its own unavailable',
    changesStatus(ARCHIVE, 500, 503),
  ),
  proxied(
    'archive-calls-storage-out-of-reach-its-own-failure',
    'archive.err.502',
    'calls storage out of reach a failure of its own',
    changesStatus(ARCHIVE, 502, 500),
  ),
  proxied(
    'archive-calls-missing-storage-a-bad-gateway',
    'archive.err.503',
    'calls it a bad gateway that there is no storage to choose',
    changesStatus(ARCHIVE, 503, 502),
  ),
];
