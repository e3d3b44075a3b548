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

/**
 * Servers that handle branch names wrongly. They assume that the default branch is `main`, or use a branch name only up
 * to its first slash.
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
];
