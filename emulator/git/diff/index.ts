export { type ApplyOptions, applyPatch, type PatchedFile } from './apply/apply-patch.js';
export { PatchError } from './apply/patch-error.js';
export { type Diff, type DiffOptions, type DiffStats, diffCommits, diffTrees } from './diff.js';
export { FileDiff, type FileDiffOptions, type FileState } from './file-diff.js';
export { LineInterner, type Lines } from './line-interner.js';
export { type Change, diffInterned, diffLines, type LineDiffOptions } from './lines.js';
export { PathFilter } from './path-filter.js';
export { detectRenames, type FileChange, type RenameOptions } from './renames.js';
export { diffTreeEntries, type Side, TooManyChanges, type TreeChange, type TreeDiffOptions } from './trees.js';
