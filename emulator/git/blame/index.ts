export { type BlameRequest, blame, NoSuchFile } from './blame.js';
export { BlameMemory } from './blame-memory.js';
export type { BlamedLines } from './blamed-lines.js';
export { BadLineRange } from './line-ranges.js';
