import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import type { ByteString } from './bytes.js';
import { parseTree } from './read-tree.js';
import { sortInSteps } from './sort.js';
import { canonicalMode, compareEntries, MODE_TREE, type TreeEntry, writeTree } from './tree.js';
import { TreeCursor } from './tree-cursor.js';

/**
 * Number of tree entries that are read or written before the generator yields again, so that other requests can run.
 */
const UNIT = 4096;

/**
 * Variant of `writeTree` that yields between pieces of work, so that other requests can run. Returns the body of the
 * tree in several parts.
 */
export function* writeTreeInSteps(entries: Iterable<TreeEntry>): Steps<Buffer[]> {
  const sorted = yield* sortInSteps([...entries], compareEntries);
  const parts: Buffer[] = [];
  for (let at = 0; at < sorted.length; at += UNIT) {
    if (at > 0) yield UNIT * COST.entry;
    parts.push(writeTree(sorted.slice(at, at + UNIT)));
  }
  return parts;
}

/**
 * Finds the entries of a tree whose names are in `names`. Yields between pieces of work.
 *
 * Also returns the body of the tree as `writeTree` would write it: sorted, with unique names and canonical modes. This
 * body differs from `body` only if another tool wrote the tree and violated these rules.
 */
export function* findEntries(
  body: Buffer,
  names: { has(name: ByteString): boolean },
): Steps<{ body: Buffer; found: Map<ByteString, TreeEntry> }> {
  const found = new Map<ByteString, TreeEntry>();
  const scan = new TreeCursor(body);
  let last: Pick<TreeEntry, 'mode' | 'name'> | undefined;
  for (let entries = 1; scan.next(); entries++) {
    if (entries % UNIT === 0) yield UNIT * COST.entry;
    const entry = { mode: scan.mode, name: scan.name };
    const { mode, name } = entry;
    const digits = scan.nameStart - scan.start - 1;
    const isCanonical = mode === canonicalMode(mode) && digits === (mode === MODE_TREE ? 5 : 6);
    if (!isCanonical || (last !== undefined && compareEntries(last, entry) >= 0))
      return yield* findRewritten(body, names);
    if (names.has(name)) found.set(name, { mode, name, oid: scan.oid });
    last = entry;
  }
  return { body, found };
}

function* findRewritten(body: Buffer, names: { has(name: ByteString): boolean }) {
  const entries = new Map((yield* parseTree(body)).map((entry) => [entry.name, entry]));
  const found = new Map([...entries].filter(([name]) => names.has(name)));
  return { body: Buffer.concat(yield* writeTreeInSteps(entries.values())), found };
}

/**
 * Removes all entries of a tree whose names are in `names`, and adds `entries`. `body` must be sorted in Git's order.
 * Returns the body of the new tree in several parts. Yields between pieces of work.
 */
export function* replaceEntries(
  body: Buffer,
  names: { has(name: ByteString): boolean },
  entries: Iterable<TreeEntry>,
): Steps<Buffer[]> {
  const added = yield* sortInSteps([...entries], compareEntries);
  const parts: Buffer[] = [];
  const scan = new TreeCursor(body);
  /**
   * `written` is the number of entries of `added` that have been written. `start` is the offset in `body` up to which
   * entries have been copied.
   */
  let written = 0;
  let start = 0;
  for (let scanned = 1; scan.next(); scanned++) {
    if (scanned % UNIT === 0) yield UNIT * COST.entry;
    const entry = { mode: scan.mode, name: scan.name };
    let next = written;
    while (next < added.length && compareEntries(added[next]!, entry) < 0) next++;
    const isReplaced = names.has(entry.name);
    if (next === written && !isReplaced) continue;
    if (scan.start > start) parts.push(body.subarray(start, scan.start));
    if (next > written) parts.push(writeTree(added.slice(written, next)));
    written = next;
    start = isReplaced ? scan.position : scan.start;
  }
  if (start < body.length) parts.push(body.subarray(start));
  for (; written < added.length; written += UNIT) {
    parts.push(writeTree(added.slice(written, written + UNIT)));
    yield UNIT * COST.entry;
  }
  return parts;
}
