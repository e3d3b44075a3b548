import { COST } from '../schedule/cost.js';
import type { Steps } from '../schedule/steps.js';
import type { ObjectReader, Oid } from './object.js';
import { readTreeBody } from './read-tree.js';
import { sortInSteps } from './sort.js';
import { canonicalMode, compareEntries, type TreeEntry, writeTree } from './tree.js';
import { TreeCursor } from './tree-cursor.js';

/** Entries read or written between two steps. */
const UNIT = 4096;

/** As `readTree`, in steps: one folder can have hundreds of thousands of entries. */
export function* readTreeInSteps(objects: ObjectReader, oid: Oid): Steps<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const scan = new TreeCursor(readTreeBody(objects, oid));
  while (scan.next()) {
    if (entries.length % UNIT === UNIT - 1) yield UNIT * COST.entry;
    entries.push({ mode: canonicalMode(scan.mode), name: scan.name, oid: scan.oid });
  }
  return entries;
}

/** As `writeTree`, in steps. */
export function* writeTreeInSteps(entries: Iterable<TreeEntry>): Steps<Buffer> {
  const sorted = yield* sortInSteps([...entries], compareEntries);
  const parts: Buffer[] = [];
  for (let at = 0; at < sorted.length; at += UNIT) {
    if (at > 0) yield UNIT * COST.entry;
    parts.push(writeTree(sorted.slice(at, at + UNIT)));
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
