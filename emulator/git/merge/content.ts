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
 * Context of one merge of trees: the object store, the meter that limits its CPU work, and the labels of both sides in
 * conflict markers.
 */
export interface MergeContext {
  readonly objects: ObjectDatabase;
  readonly meter: Meter;
  readonly ours: ByteString;
  readonly theirs: ByteString;
  /**
   * Nesting depth of the merge: 0 for the requested merge; greater for merges of its merge bases, whose conflicts are
   * not reported.
   */
  readonly depth: number;
}

export interface MergedContent {
  readonly version: Version;
  readonly isClean: boolean;
}

const EMPTY = Buffer.alloc(0);

/**
 * Merges two versions of a path with the same type (files, symbolic links or submodules) over a base, which may have
 * another type. If they cannot be merged, the result is our version, or the base version if merge bases are being
 * merged. `names` are the paths of the three versions. Conflict markers show them if they differ. `extraMarkers`
 * lengthens the markers.
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

  // Returns early for versions of different types, or if one is absent, because they cannot be merged. Renames can lead
  // to such a pair.
  if (!isSameType(ours, theirs)) return { version: ours.mode === 0 ? theirs : ours, isClean: false };
  if (ours.oid === theirs.oid || ours.oid === base.oid) return done(theirs.oid, true);
  if (theirs.oid === base.oid) return done(ours.oid, true);
  const hasBase = isSameType(base, ours);
  if (isRegular(ours.mode)) {
    const text = await mergeFiles(context, hasBase ? base : ABSENT, ours, theirs, names, extraMarkers);
    return done(text.oid, text.isClean);
  }
  // Submodules cannot be merged, because their commits are in another repository. Symbolic links have no lines to
  // merge.
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
