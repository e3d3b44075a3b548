import type { Meter } from '../../schedule/meter.js';
import { runYielding } from '../../schedule/steps.js';
import { isBinary } from '../object/binary.js';
import type { ByteString } from '../object/bytes.js';
import { BLOB, type Oid, readAs } from '../object/object.js';
import { isRegular } from '../object/tree.js';
import type { ObjectDatabase } from '../object/tree-edit.js';
import { ABSENT, BASE, isSameType, OURS, THEIRS, type Three, type Version } from './entry.js';
import { mergeTexts } from './three-way.js';

/**
 * Context of one merge of trees: the object store, the meter that limits the CPU work, and the labels of both sides for
 * conflict markers.
 */
export interface MergeContext {
  readonly objects: ObjectDatabase;
  readonly meter: Meter;
  readonly ours: ByteString;
  readonly theirs: ByteString;
  /**
   * Nesting depth of the merge. 0 is the requested merge. A greater value is a merge of merge bases, whose conflicts
   * are not reported.
   */
  readonly depth: number;
}

export interface MergedContent {
  readonly version: Version;
  readonly isClean: boolean;
}

const EMPTY = Buffer.alloc(0);

/**
 * Merges two versions of a path over a base. `names` has the paths of the base version, our version and their version.
 * Conflict markers contain these paths if they differ. `extraMarkers` is the number of characters by which conflict
 * markers are lengthened.
 *
 * If the versions cannot be merged, the result is our version, or their version if ours is absent. In a merge of merge
 * bases (`depth` above 0), the result for binary files, symbolic links and submodules is the base version instead.
 */
export async function mergeContents(
  context: MergeContext,
  base: Version,
  ours: Version,
  theirs: Version,
  names: Three<ByteString>,
  extraMarkers: number,
): Promise<MergedContent> {
  const isModeTheirs = ours.mode === theirs.mode || ours.mode === base.mode;
  const mode = isModeTheirs ? theirs.mode : ours.mode;
  const isModeClean = isModeTheirs || theirs.mode === base.mode;
  const done = (oid: Oid, isClean: boolean) => ({ version: { mode, oid }, isClean: isClean && isModeClean });

  // Versions of different types cannot be merged, and an absent version cannot be merged either. Renames can lead to
  // such pairs.
  if (!isSameType(ours, theirs)) return { version: ours.mode === 0 ? theirs : ours, isClean: false };
  if (ours.oid === theirs.oid || ours.oid === base.oid) return done(theirs.oid, true);
  if (theirs.oid === base.oid) return done(ours.oid, true);
  const hasBase = isSameType(base, ours);
  if (isRegular(ours.mode)) {
    const text = await mergeFiles(context, hasBase ? base : ABSENT, ours, theirs, names, extraMarkers);
    return done(text.oid, text.isClean);
  }
  // Submodules cannot be merged, because their commits are in another repository. Symbolic links cannot be merged,
  // because they have no lines.
  if (context.depth === 0) return done(ours.oid, false);
  return { version: base, isClean: false };
}

async function mergeFiles(
  { objects, meter, ours: oursName, theirs: theirsName, depth }: MergeContext,
  base: Version,
  ours: Version,
  theirs: Version,
  names: Three<ByteString>,
  extraMarkers: number,
): Promise<{ oid: Oid; isClean: boolean }> {
  const bodies = [base, ours, theirs].map(({ mode, oid }) => (mode === 0 ? EMPTY : readAs(objects, oid, BLOB)));
  const [baseBody, oursBody, theirsBody] = bodies as Three<Buffer>;
  if (bodies.some(isBinary)) {
    if (depth === 0) return { oid: ours.oid, isClean: false };
    return { oid: base.mode === 0 ? objects.write(BLOB, EMPTY) : base.oid, isClean: true };
  }
  const isOneName = names[BASE] === names[OURS] && names[OURS] === names[THEIRS];
  const labels = isOneName
    ? { ours: oursName, theirs: theirsName }
    : { ours: `${oursName}:${names[OURS]}`, theirs: `${theirsName}:${names[THEIRS]}` };
  const { body, isClean } = await runYielding(mergeTexts(baseBody, oursBody, theirsBody, labels, extraMarkers), meter);
  return { oid: objects.write(BLOB, body), isClean };
}
