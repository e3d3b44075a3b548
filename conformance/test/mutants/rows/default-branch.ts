import { type Mutant, proxied } from '../mutant.js';
import { ARCHIVE, FILE, GREP, META } from '../places.js';
import { assumesParameter, changesMember, changesQuery, changesRequest } from '../rewrites.js';

/** Makes the server use the ref `main` for requests to `place` that have no ref. */
function assumesMain(place: string) {
  return changesRequest<{ ref?: string }>(place, (body) => {
    body.ref ??= 'main';
  });
}

function beforeSlash(ref: unknown): unknown {
  return String(ref).startsWith('topic/') ? 'topic' : ref;
}

/** Makes the server read only the part of `ref` before the first slash: `topic/a` becomes `topic`. */
function cutsRef(place: string) {
  return changesQuery(place, (query) => {
    if (query.has('ref')) query.set('ref', String(beforeSlash(query.get('ref'))));
  });
}

/** Returns a full SHA that begins with `ref` if `ref` looks like an abbreviated SHA. Otherwise returns `ref`. */
function asSha(ref: unknown): unknown {
  return /^[0-9a-f]{7,39}$/.test(String(ref)) ? String(ref).padEnd(40, '0') : ref;
}

/** Makes the server take a `ref` that looks like an abbreviated SHA for a SHA, also if a branch has this name. */
function completesRef(place: string) {
  return changesQuery(place, (query) => {
    if (query.has('ref')) query.set('ref', String(asSha(query.get('ref'))));
  });
}

/**
 * Servers that handle branch names wrongly. They assume that the default branch is `main`, use a branch name only up to
 * its first slash, or take a branch name for a SHA.
 */
export const rows: readonly Mutant[] = [
  proxied('grep-searches-main', 'grep.ref.default#other-name', 'searches main if no ref is named', assumesMain(GREP)),
  proxied('archive-packs-main', 'archive.ref.default#other-name', 'archives main if no ref is named', {
    request: (request) => {
      const isArchive = `${request.method} ${request.path}` === ARCHIVE;
      if (isArchive && request.body.length === 0) request.body = Buffer.from('{}');
      assumesMain(ARCHIVE).request?.(request);
    },
  }),
  proxied(
    'file-reads-main',
    'file.ref.default#other-name',
    'reads main if no ref is named',
    assumesParameter(FILE, 'ref', 'main'),
  ),
  proxied(
    'metadata-lists-main',
    'filemeta.ref.default-branch#other-name',
    'lists main if no ref is named',
    assumesParameter(META, 'ref', 'main'),
  ),
  proxied(
    'grep-cuts-branches-at-a-slash',
    'grep.ref.branch#slash',
    'reads the name of a branch up to the first slash',
    changesMember(GREP, 'ref', beforeSlash),
  ),
  proxied(
    'file-cuts-branches-at-a-slash',
    'file.ref.branch#slash',
    'reads the name of a branch up to the first slash',
    cutsRef(FILE),
  ),
  proxied(
    'metadata-cuts-branches-at-a-slash',
    'filemeta.ref.branch#slash',
    'reads the name of a branch up to the first slash',
    cutsRef(META),
  ),
  proxied(
    'archive-cuts-branches-at-a-slash',
    'archive.ref.branch#slash',
    'reads the name of a branch up to the first slash',
    changesMember(ARCHIVE, 'ref', beforeSlash),
  ),
  proxied(
    'file-takes-hexadecimal-branches-for-commits',
    'file.ref.branch#hexadecimal',
    'takes the name of a branch for an abbreviated SHA if it has only hexadecimal digits',
    completesRef(FILE),
  ),
  proxied(
    'metadata-takes-hexadecimal-branches-for-commits',
    'filemeta.ref.branch#hexadecimal',
    'takes the name of a branch for an abbreviated SHA if it has only hexadecimal digits',
    completesRef(META),
  ),
  proxied(
    'archive-takes-hexadecimal-branches-for-commits',
    'archive.ref.branch#hexadecimal',
    'takes the name of a branch for an abbreviated SHA if it has only hexadecimal digits',
    changesMember(ARCHIVE, 'ref', asSha),
  ),
];
