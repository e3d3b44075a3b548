import { withRoom } from '../../memory/growable.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, type Steps } from '../../schedule/steps.js';
import type { ByteString } from './bytes.js';
import { EMPTY_TREE_OID, MissingObject, type ObjectReader, type Oid } from './object.js';
import { canonicalMode } from './tree.js';
import { NONE, TreeCursor } from './tree-cursor.js';
import type { EntryKey, TreeNames } from './tree-names.js';

/**
 * Immutable decoded entries of a tree, in stored order. Each entry is a pair of integers, so trees are compared without
 * comparing text.
 */
export class TreeEntries {
  /**
   * `cells` contains two integers for each entry: its key and its object. The key stands for name and mode, see
   * `names`. `objectAt` explains the second integer.
   */
  constructor(
    readonly names: TreeNames,
    readonly cells: Int32Array,
  ) {}

  get length(): number {
    return this.cells.length >> 1;
  }

  keyAt(index: number): EntryKey {
    return this.cells[index * 2]!;
  }

  /**
   * Returns the number that identifies the entry's object:
   *
   * - a stored object: its object number
   * - the empty tree if it is not stored: `NONE`
   * - another object that is not stored: `-2 - ForeignId`
   * - a gitlink (submodule commit): its `ForeignId`
   */
  objectAt(index: number): number {
    return this.cells[index * 2 + 1]!;
  }

  nameAt(index: number): ByteString {
    return this.names.nameOf(this.keyAt(index));
  }

  /** Returns the mode of the entry in canonical form, as Git reads it. */
  modeAt(index: number): number {
    return canonicalMode(this.names.modeOf(this.keyAt(index)));
  }

  isTreeAt(index: number): boolean {
    return this.names.isTree(this.keyAt(index));
  }

  isGitlinkAt(index: number): boolean {
    return this.names.isGitlink(this.keyAt(index));
  }

  /** Returns the index of the first entry with this name, or -1 if absent. */
  find(name: ByteString): number {
    const { names, cells } = this;
    const id = names.find(name);
    if (id < 0) return -1;
    for (let at = 0; at < cells.length; at += 2) if (names.nameIdOf(cells[at]!) === id) return at >> 1;
    return -1;
  }
}

/**
 * Decodes the body of a tree object. Adds the names of its entries to the table `names`. `objects` finds objects by id.
 * Yields between pieces of work, so that other requests can run. Throws `MalformedObject` if the tree is malformed.
 */
export function* decodeTree(
  body: Buffer,
  names: TreeNames,
  objects: Pick<ObjectReader, 'findRaw'>,
): Steps<TreeEntries> {
  let cells = new Int32Array(Math.max(8, body.length >> 4));
  let length = 0;
  let known = names.size;
  const entry = new TreeCursor(body);
  while (entry.next()) {
    cells = withRoom(cells, length + 2);
    cells[length] = names.keyOf(entry);
    cells[length + 1] = entry.isGitlink ? names.foreign(entry.oid) : objectOf(entry, names, objects);
    length += 2;
    if (length % (PIECE * 2) === 0) {
      yield PIECE * COST.entry + (names.size - known) * COST.name;
      known = names.size;
    }
  }
  return new TreeEntries(names, cells.slice(0, length));
}

/**
 * Returns the object number of an entry's object. Returns `NONE` for the empty tree if it is not stored. Throws
 * `MissingObject` for any other object that is not stored.
 */
export function objectAt(entries: TreeEntries, index: number): number {
  const number = entries.objectAt(index);
  if (number >= NONE) return number;
  throw new MissingObject(entries.names.oidOfForeign(-2 - number));
}

/** Returns the id of an entry's object. The object need not be stored. */
export function entryOid(objects: ObjectReader, entries: TreeEntries, index: number): Oid {
  const number = entries.objectAt(index);
  if (number < NONE) return entries.names.oidOfForeign(-2 - number);
  if (entries.isGitlinkAt(index)) return entries.names.oidOfForeign(number);
  return number === NONE ? EMPTY_TREE_OID : objects.oidOf(number);
}

function objectOf(entry: TreeCursor, names: TreeNames, objects: Pick<ObjectReader, 'findRaw'>): number {
  const number = objects.findRaw(entry.body, entry.oidStart);
  if (number >= 0) return number;
  // Git can read the empty tree even if it is not stored. It therefore does not count as missing.
  return entry.isTree && entry.oid === EMPTY_TREE_OID ? NONE : -2 - names.foreign(entry.oid);
}
