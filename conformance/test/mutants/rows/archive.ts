import { type Mutant, proxied } from '../mutant.js';
import { ARCHIVE } from '../places.js';
import { ignoresMember, isAt, setsHeader } from '../rewrites.js';

export const rows: readonly Mutant[] = [
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
];
