import { runYielding } from '../../schedule/steps.js';
import type { ByteString } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { byBytes, sortInSteps } from '../object/sort.js';
import { collectMergeInfo } from './collect-merge-info.js';
import type { Conflict, ConflictMessage } from './conflict.js';
import type { MergeContext } from './content.js';
import { BASE, type Entry, OURS, type Stage, THEIRS, type Three } from './entry.js';
import { FolderRenamer } from './folder-renames.js';
import { EntryProcessor } from './process-entries.js';
import { processRenames } from './process-renames.js';
import { detectSideRenames } from './side-renames.js';

export interface TreeMerge {
  /** Object id of the merged tree. A path in conflict has a file with conflict markers, or one of the versions. */
  readonly tree: Oid;
  readonly isClean: boolean;
  /**
   * Paths in conflict, in order. The list may be empty although `isClean` is false. This happens if one side moved the
   * files of a folder to several folders in equal numbers, so that the new path of the folder is ambiguous.
   */
  readonly conflicts: readonly Conflict[];
  readonly messages: readonly ConflictMessage[];
}

/**
 * Merges two trees over a base tree as `git merge-tree --write-tree` does (Git's "ort" strategy). It follows renamed
 * files and folders, and merges text line by line. Every kind of conflict has Git's result.
 */
export async function mergeTrees(context: MergeContext, trees: Three<Oid>): Promise<TreeMerge> {
  const { objects, meter } = context;
  const messages: ConflictMessage[] = [];
  const { entries, sides } = await collectMergeInfo(objects, trees, meter);
  let isClean = true;
  if (sides.some(({ pairs, relevantSources }) => pairs.length > 0 && relevantSources.size > 0)) {
    const ours = await detectSideRenames(objects, sides[OURS], meter);
    const theirs = await detectSideRenames(objects, sides[THEIRS], meter);
    const folders = new FolderRenamer(entries, sides, messages);
    if (context.depth === 0) folders.addRenames(ours, theirs);
    const renames = folders.collect();
    isClean = (await processRenames(context, entries, renames, messages)) && folders.isClean;
  }
  const processor = new EntryProcessor(context, entries, messages);
  const tree = await processor.run();
  const conflicted = await runYielding(
    sortInSteps([...processor.conflicted], ([a], [b]) => byBytes(a, b)),
    meter,
  );
  const sorted = await runYielding(
    sortInSteps(messages, (a, b) => byBytes(a.paths[0]!, b.paths[0]!)),
    meter,
  );
  return {
    tree,
    isClean: isClean && conflicted.length === 0,
    conflicts: conflicted.map(([path, entry]) => conflictOf(path, entry)),
    messages: sorted,
  };
}

function conflictOf(path: ByteString, { fileMask, stages }: Entry): Conflict {
  const has = (stage: Stage) => (fileMask & (1 << stage)) !== 0 && stages[stage].mode !== 0;
  return {
    path,
    ...(has(BASE) && { base: stages[BASE] }),
    ...(has(OURS) && { ours: stages[OURS] }),
    ...(has(THEIRS) && { theirs: stages[THEIRS] }),
  };
}
