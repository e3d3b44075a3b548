export { LineInterner, type Lines } from './line-interner.js';
export { type Change, diffInterned, diffLines, type LineDiffOptions } from './lines.js';
