import { type Mutant, proxied } from '../mutant.js';
import { META } from '../places.js';
import { assumesParameter, changesJson, changesStatus, ignoresParameter, setsMember } from '../rewrites.js';

export const rows: readonly Mutant[] = [
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
];
