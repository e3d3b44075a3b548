import { type Mutant, patched, proxied } from '../mutant.js';
import { ARCHIVE } from '../places.js';
import type { Rewrite } from '../proxy.js';
import { changesRequest, isAt } from '../rewrites.js';

interface ArchiveBody {
  ref?: string;
  include_globs?: string[];
  exclude_globs?: string[];
  max_blob_size?: number;
  archive?: { prefix?: string };
}

function changesArchive(change: (body: ArchiveBody) => unknown): Rewrite {
  return changesRequest<ArchiveBody>(ARCHIVE, (body) => void change(body));
}

/** Makes the server ignore a `ref` of this form. The proxy removes it from archive requests. */
function ignoresRef(form: RegExp): Rewrite {
  return changesArchive((body) => {
    if (body.ref !== undefined && form.test(body.ref)) delete body.ref;
  });
}

/**
 * Makes the server accept a prefix that it must refuse. `change` returns a valid prefix, which replaces the one in
 * archive requests.
 */
function changesPrefix(change: (prefix: string) => string): Rewrite {
  return changesArchive(({ archive }) => {
    if (archive?.prefix !== undefined) archive.prefix = change(archive.prefix);
  });
}

/**
 * Changes the bytes of files in archives. `bytes` is a JavaScript expression, in which `body` has the correct bytes.
 */
const packsBytes = (bytes: string) => ({
  file: 'git/archive/archive.js',
  find: 'tar.file(path, oid, mode === MODE_EXECUTABLE, body)',
  replace: `tar.file(path, oid, mode === MODE_EXECUTABLE, ${bytes})`,
});

export const rows: readonly Mutant[] = [
  patched(
    'archive-converts-line-endings',
    'archive.route#line-endings',
    'packs text files with other line endings',
    packsBytes("body.includes(0) ? body : Buffer.from(body.toString('latin1').replaceAll('\\r\\n', '\\n'), 'latin1')"),
  ),
  patched(
    'archive-drops-byte-order-marks',
    'archive.route#line-endings',
    'packs text files without their byte order marks',
    packsBytes("body.subarray(body.indexOf('\\ufeff') === 0 ? 3 : 0)"),
  ),
  patched(
    'archive-cuts-files-at-1-mib',
    'archive.route#large',
    'packs the first MiB of each file',
    packsBytes('body.subarray(0, 1 << 20)'),
  ),
  patched('archive-leaves-out-empty-files', 'archive.route#empty', 'leaves out empty files', {
    file: 'git/archive/archive.js',
    find: 'objects.sizeOf(number) > maxBlobSize',
    replace: '(objects.sizeOf(number) > maxBlobSize || objects.sizeOf(number) === 0)',
  }),
  proxied(
    'archive-ignores-branches',
    'archive.ref.branch#branch',
    'packs the default branch if ref is a branch',
    ignoresRef(/^feature$/),
  ),
  proxied(
    'archive-ignores-tags',
    'archive.ref.branch#tag',
    'packs the default branch if ref is a tag',
    ignoresRef(/^v1$/),
  ),
  proxied(
    'archive-ignores-annotated-tags',
    'archive.ref.branch#annotated-tag',
    'packs the default branch if ref is an annotated tag',
    ignoresRef(/^v2$/),
  ),
  proxied(
    'archive-ignores-commits',
    'archive.ref.branch#sha',
    'packs the default branch if ref is a commit SHA',
    ignoresRef(/^[0-9a-f]{40}$/),
  ),
  proxied(
    'archive-needs-a-folder-for-two-stars',
    'archive.include_globs#root',
    'does not match files in the root folder with a glob that begins with two stars',
    changesArchive((body) => {
      if (body.include_globs !== undefined)
        body.include_globs = body.include_globs.map((glob) => glob.replace(/^\*\*\//, '*/**/'));
    }),
  ),
  proxied(
    'archive-compares-the-start-of-folders',
    'archive.include_globs#one-folder',
    'takes a glob with a folder for each folder that begins with the same characters',
    changesArchive((body) => {
      if (body.include_globs !== undefined)
        body.include_globs = body.include_globs.map((glob) => glob.replace(/^(\w+)\/\*\*$/, '$1*/**'));
    }),
  ),
  proxied(
    'archive-includes-what-is-excluded',
    'archive.exclude_globs#from-included',
    'does not look at exclude_globs if the request has include_globs',
    changesArchive((body) => {
      if (body.include_globs !== undefined) delete body.exclude_globs;
    }),
  ),
  proxied(
    'archive-ignores-max-blob-size-beside-globs',
    'archive.max_blob_size#with-globs',
    'does not look at max_blob_size if the request has include_globs',
    changesArchive((body) => {
      if (body.include_globs !== undefined) delete body.max_blob_size;
    }),
  ),
  proxied(
    'archive-takes-a-max-blob-size-of-0-for-no-limit',
    'archive.max_blob_size#zero',
    'takes a max_blob_size of 0 for no limit',
    changesArchive((body) => {
      if (body.max_blob_size === 0) delete body.max_blob_size;
    }),
  ),
  proxied(
    'archive-ignores-exclude-globs-beside-max-blob-size',
    'archive.max_blob_size#with-globs',
    'does not look at exclude_globs if the request has max_blob_size',
    changesArchive((body) => {
      if (body.max_blob_size !== undefined) delete body.exclude_globs;
    }),
  ),
  proxied(
    'archive-matches-globs-below-the-prefix',
    'archive.prefix#globs',
    'matches globs with the paths that the files have in the archive',
    changesArchive((body) => {
      const prefix = body.archive?.prefix;
      if (prefix === undefined) return;
      const below = (globs: string[]) =>
        globs.map((glob) => (glob.startsWith('lib-') ? glob.replace(/^[^/]*\//, '') : `${prefix}/${glob}`));
      if (body.include_globs !== undefined) body.include_globs = below(body.include_globs);
      if (body.exclude_globs !== undefined) body.exclude_globs = below(body.exclude_globs);
    }),
  ),
  proxied(
    'archive-refuses-dots-in-prefixes',
    'archive.prefix#dots',
    'refuses each prefix that contains two dots in a row',
    changesPrefix((prefix) => (prefix.includes('..') ? '..' : prefix)),
  ),
  proxied(
    'archive-drops-the-first-slash-of-prefixes',
    'archive.prefix.dotdot#absolute',
    'removes the slash at the start of a prefix',
    changesPrefix((prefix) => prefix.replace(/^\//, '')),
  ),
  proxied(
    'archive-turns-backslashes-around',
    'archive.prefix.dotdot#backslash',
    'takes a backslash in a prefix for a slash',
    changesPrefix((prefix) => prefix.replaceAll('\\', '/')),
  ),
  proxied(
    'archive-drops-single-dots-inside-prefixes',
    'archive.prefix.dotdot#dot',
    'removes the segment . inside a prefix',
    changesPrefix((prefix) => prefix.replace(/\/\.\//g, '/')),
  ),
  proxied(
    'archive-drops-single-dots-at-the-end',
    'archive.prefix.dotdot#dot',
    'removes the segment . at the end of a prefix',
    changesPrefix((prefix) => prefix.replace(/\/\.$/, '')),
  ),
  proxied(
    'archive-normalizes-prefixes',
    'archive.prefix.dotdot#dot-dot',
    'removes a segment .. and the one before it from a prefix, as long as the prefix stays below the root',
    changesPrefix((prefix) => prefix.replace(/[^/.]+\/\.\.\//, '')),
  ),
  proxied(
    'archive-accepts-two-dots-at-the-end',
    'archive.prefix.dotdot#dot-dot',
    'does not notice a segment .. at the end of a prefix',
    changesPrefix((prefix) => prefix.replace(/\/\.\.$/, '')),
  ),
  proxied(
    'archive-reads-max-blob-size-as-32-bits',
    'archive.max_blob_size#large',
    'uses only the lower 32 bits of max_blob_size',
    changesArchive((body) => {
      if (typeof body.max_blob_size === 'number') body.max_blob_size |= 0;
    }),
  ),
  proxied(
    'archive-reads-digits-as-a-number',
    'archive.max_blob_size.invalid#digits',
    'reads a text with only digits in max_blob_size as a number',
    changesArchive((body) => {
      if (/^\d+$/.test(String(body.max_blob_size))) body.max_blob_size = Number(body.max_blob_size);
    }),
  ),
  proxied(
    'archive-shortens-prefixes',
    'archive.prefix#long',
    'shortens a prefix to 100 characters',
    changesPrefix((prefix) => prefix.slice(0, 100)),
  ),
  proxied(
    'archive-names-every-revision-head',
    'archive.header.disposition#revision',
    'has the same file name for archives of all revisions',
    {
      response: ({ request, headers }) => {
        const header = headers['content-disposition'];
        if (!isAt(ARCHIVE, request) || header === undefined) return;
        headers['content-disposition'] = String(header).replace(/-[0-9a-f]{7}\.tar/, '-HEAD.tar');
      },
    },
  ),
];
