import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { MalformedObject } from '../object/malformed-object.js';
import { COMMIT, MissingObject, type ObjectReader, type Oid, TAG, TREE } from '../object/object.js';
import { peelTags } from '../object/tag.js';

/** More objects of one prefix are not looked at; a prefix of four digits has as many in a store of 65 million. */
const MOST_CANDIDATES = 1000;
/** Units of looking at one id; all are looked at. */
const COST_PER_ID = COST.byteScanned;

/**
 * The one object whose id starts with `prefix` (4 to 40 lower-case digits). With `want`, Git's rule for a place where
 * only a commit (or a tree) makes sense: among several, the only one that is such, or a tag of such, is meant.
 */
export function* resolveShortOid(
  objects: ObjectReader,
  prefix: string,
  want: 'commit' | 'tree' | undefined,
): Steps<{ oid: Oid; fault?: undefined } | { fault: 'missing' | 'ambiguous' }> {
  yield objects.size * COST_PER_ID;
  const candidates = objects.findPrefix(prefix, MOST_CANDIDATES);
  const [first, ...others] = candidates;
  if (first === undefined) return { fault: 'missing' };
  if (others.length === 0) return { oid: first };
  if (want === undefined) return { fault: 'ambiguous' };
  let fitting: Oid | undefined;
  for (const oid of candidates) {
    if (!(yield* mayBe(objects, oid, want))) continue;
    if (fitting !== undefined) return { fault: 'ambiguous' };
    fitting = oid;
  }
  return fitting === undefined ? { fault: 'ambiguous' } : { oid: fitting };
}

function* mayBe(objects: ObjectReader, oid: Oid, want: 'commit' | 'tree'): Steps<boolean> {
  const type = yield* typeBehind(objects, oid);
  return type === COMMIT || (want === 'tree' && type === TREE);
}

function* typeBehind(objects: ObjectReader, oid: Oid): Steps<number | undefined> {
  yield COST.operation;
  const type = objects.typeOf(objects.find(oid));
  if (type !== TAG) return type;
  try {
    return objects.typeOf(objects.find(yield* peelTags(objects, oid)));
  } catch (error) {
    if (error instanceof MissingObject || error instanceof MalformedObject) return undefined;
    throw error;
  }
}
