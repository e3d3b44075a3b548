export { type BlamedLines, type BlameRequest, blame, NoSuchFile } from './blame.js';
export { BadLineRange } from './line-ranges.js';
export type { CommitGraph } from './scoreboard.js';
