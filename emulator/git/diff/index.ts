export { type Change, collectChanges } from './change.js';
export { type Diff, type DiffOptions, type DiffStats, diffCommits, diffTrees } from './diff.js';
export { FileDiff, type FileDiffOptions, type FileState } from './file-diff.js';
export { LineInterner, type LinePair, type Lines } from './line-interner.js';
export { diffInterned, diffLines, diffPair, type LineDiffOptions } from './lines.js';
export { PathFilter } from './path-filter.js';
export { detectRenames, type FileChange, type RenameOptions } from './renames.js';
export { diffTreeEntries, type Side, TooManyChanges, type TreeChange, type TreeDiffOptions } from './trees.js';
