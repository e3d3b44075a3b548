import { COST } from '../../schedule/cost.js';
import { PIECE, type Steps } from '../../schedule/steps.js';
import type { ByteString } from './bytes.js';
import { EMPTY_TREE_OID, MissingObject, type ObjectReader, type Oid, TREE } from './object.js';
import { canonicalMode, MODE_TREE, type PathEntry, type TreeEntry } from './tree.js';
import { TreeCursor } from './tree-cursor.js';

/** Number of tree entries that are read before the generator yields again, so that other requests can run. */
const UNIT = 4096;
const SLASH = 0x2f;
const EMPTY = Buffer.alloc(0);

/**
 * Returns all entries of a tree object in stored order, with canonical modes. Yields between pieces of work. Throws
 * `MalformedObject` if the tree is malformed.
 */
export function* parseTree(body: Buffer): Steps<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const entry = new TreeCursor(body);
  while (entry.next()) {
    if (entries.length % UNIT === UNIT - 1) yield UNIT * COST.entry;
    entries.push({ mode: canonicalMode(entry.mode), name: entry.name, oid: entry.oid });
  }
  return entries;
}

/**
 * Returns the body of the tree object `oid`. The empty tree is found even if it is not stored. Throws `MissingObject`
 * if the tree does not exist.
 */
export function* readTreeBody(objects: ObjectReader, oid: Oid): Steps<Buffer> {
  const number = objects.find(oid);
  if (number < 0 && oid === EMPTY_TREE_OID) return EMPTY;
  if (number < 0 || objects.typeOf(number) !== TREE) throw new MissingObject(oid, 'tree');
  return yield* objects.readSteps(number);
}

/**
 * Returns all entries of the stored tree `oid`, in stored order. Throws `MissingObject` if the tree does not exist, and
 * `MalformedObject` if it is malformed.
 */
export function* readTree(objects: ObjectReader, oid: Oid): Steps<TreeEntry[]> {
  return yield* parseTree(yield* readTreeBody(objects, oid));
}

/**
 * Returns the entry at `path` in the tree `tree` or its subfolders, or undefined if absent. The empty path returns an
 * entry for `tree` itself.
 */
export function* findEntry(objects: ObjectReader, tree: Oid, path: ByteString): Steps<PathEntry | undefined> {
  let mode = MODE_TREE;
  let oid = tree;
  if (path === '') return { path, mode, oid };
  const bytes = Buffer.from(path, 'latin1');
  for (let start = 0; start <= bytes.length; ) {
    if (mode !== MODE_TREE) return undefined;
    const slash = bytes.indexOf(SLASH, start);
    const end = slash < 0 ? bytes.length : slash;
    const entry = new TreeCursor(yield* readTreeBody(objects, oid));
    if (!(yield* findName(entry, bytes, start, end))) return undefined;
    mode = canonicalMode(entry.mode);
    oid = entry.oid;
    start = end + 1;
  }
  return { path, mode, oid };
}

function* findName(entry: TreeCursor, bytes: Buffer, start: number, end: number): Steps<boolean> {
  let isFound = false;
  for (let entries = 1; !isFound && entry.next(); entries++) {
    if (entries % PIECE === 0) yield PIECE * COST.entry;
    isFound = entry.hasName(bytes, start, end);
  }
  yield COST.entry;
  return isFound;
}
