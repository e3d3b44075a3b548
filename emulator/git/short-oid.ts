import { MalformedObject } from './malformed-object.js';
import { COMMIT, MissingObject, type ObjectReader, type Oid, TAG, TREE } from './object.js';
import { peel } from './tag.js';

/** More objects of one prefix are not looked at; a prefix of four digits has as many in a store of 65 million. */
const MOST_CANDIDATES = 1000;

/**
 * The one object whose id starts with `prefix` (4 to 40 lower-case digits). With `want`, Git's rule for a place where
 * only a commit (or a tree) makes sense: among several, the only one that is such, or a tag of such, is meant.
 */
export function resolveShortOid(
  objects: ObjectReader,
  prefix: string,
  want: 'commit' | 'tree' | undefined,
): { oid: Oid; fault?: undefined } | { fault: 'missing' | 'ambiguous' } {
  const candidates = objects.findPrefix(prefix, MOST_CANDIDATES);
  if (candidates.length === 0) return { fault: 'missing' };
  if (candidates.length === 1) return { oid: candidates[0]! };
  const fitting = want === undefined ? candidates : candidates.filter((oid) => mayBe(objects, oid, want));
  return fitting.length === 1 ? { oid: fitting[0]! } : { fault: 'ambiguous' };
}

function mayBe(objects: ObjectReader, oid: Oid, want: 'commit' | 'tree'): boolean {
  const type = typeBehind(objects, oid);
  return type === COMMIT || (want === 'tree' && type === TREE);
}

function typeBehind(objects: ObjectReader, oid: Oid): number | undefined {
  const type = objects.typeOf(objects.find(oid));
  if (type !== TAG) return type;
  try {
    return objects.typeOf(objects.find(peel(objects, oid)));
  } catch (error) {
    if (error instanceof MissingObject || error instanceof MalformedObject) return undefined;
    throw error;
  }
}
