export { type BlamedLines, type BlameRequest, blame, NoSuchFile } from './blame.js';
export { BlameMemory } from './blame-memory.js';
export { BadLineRange } from './line-ranges.js';
