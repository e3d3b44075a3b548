import { runSync, type Steps } from '../../schedule/steps.js';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../object/bytes.js';
import { type ObjectReader, type Oid, TREE } from '../object/object.js';
import { findEntry, readTree } from '../object/read-tree.js';
import { isRegular, MODE_FILE, MODE_TREE, type TreeEntry, writeTree } from '../object/tree.js';
import type { ObjectDatabase } from '../object/tree-edit.js';

/**
 * Folder of a notes tree, read into memory (`git help notes`, "Notes can be fanned out").
 *
 * The file with the note of an object is named by the object's id. If there are many notes, the first two digits of the
 * name become a folder, then the next two, and so on: `d3/ad/be…`. `digits` is the length of the note names in this
 * folder: 40 at the root, 38 one level below.
 */
interface Level {
  readonly digits: number;
  readonly notes: Map<ByteString, TreeEntry>;
  /**
   * Subfolders by name; each name is two hexadecimal digits. The value is a `Level` if the subfolder was read into
   * memory. Otherwise it is the id of the stored tree.
   */
  readonly folders: Map<ByteString, Oid | Level>;
  /** Tree entries that are not notes, such as files with other names. They are kept unchanged, as in Git. */
  readonly others: TreeEntry[];
}

const HEX = /^[0-9a-f]+$/;

/** Returns the id of the blob that contains the note of the object `target`; undefined if the object has no note. */
export function* findNote(objects: ObjectReader, tree: Oid, target: Oid): Steps<Oid | undefined> {
  let folder = tree;
  for (let rest = bytesOf(target); ; rest = sliceBytes(rest, 2)) {
    const note = yield* findEntry(objects, folder, rest);
    if (note && isRegular(note.mode)) return note.oid;
    const next = rest.length > 2 ? yield* findEntry(objects, folder, sliceBytes(rest, 0, 2)) : undefined;
    if (next?.mode !== MODE_TREE) return undefined;
    folder = next.oid;
  }
}

/**
 * Yields the id of the annotated object and the id of the note's blob, for each note in stored order. Yields undefined
 * for each entry that is not a note, so that the caller can count the work.
 */
export function* eachNote(objects: ObjectReader, tree: Oid): Generator<[target: ByteString, blob: Oid] | undefined> {
  const levels = [{ digits: NO_BYTES, entries: runSync(readTree(objects, tree)), at: 0 }];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const entry = level.entries[level.at++];
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const digits = concatBytes(level.digits, entry.name);
    const isHex = HEX.test(entry.name);
    if (isHex && entry.name.length === 2 && digits.length < 40 && entry.mode === MODE_TREE)
      levels.push({ digits, entries: runSync(readTree(objects, entry.oid)), at: 0 });
    yield isHex && digits.length === 40 && isRegular(entry.mode) ? [digits, entry.oid] : undefined;
  }
}

/**
 * Sets the note of the object `target` to `blob`. Removes the note if `blob` is undefined. Returns the id of the new
 * notes tree.
 */
export function setNote(objects: ObjectDatabase, tree: Oid, target: Oid, blob: Oid | undefined): Oid {
  const name = bytesOf(target);
  const root = openLevel(objects, tree, 40);
  let level = root;
  for (;;) {
    const rest = sliceBytes(name, 40 - level.digits);
    level.notes.delete(rest);
    const folder = level.folders.get(sliceBytes(rest, 0, 2));
    if (folder === undefined) break;
    const opened = openFolder(objects, level, folder);
    level.folders.set(sliceBytes(rest, 0, 2), opened);
    level = opened;
  }
  if (blob !== undefined) {
    const rest = sliceBytes(name, 40 - level.digits);
    level.notes.set(rest, { name: rest, mode: MODE_FILE, oid: blob });
  }
  return objects.write(TREE, writeTree(entriesOf(objects, root)));
}

function openFolder(objects: ObjectReader, parent: Level, folder: Oid | Level): Level {
  return typeof folder === 'string' ? openLevel(objects, folder, parent.digits - 2) : folder;
}

function openLevel(objects: ObjectReader, tree: Oid, digits: number): Level {
  const level: Level = { digits, notes: new Map(), folders: new Map(), others: [] };
  for (const entry of runSync(readTree(objects, tree))) {
    const { name, mode, oid } = entry;
    if (name.length === digits && isRegular(mode) && HEX.test(name)) level.notes.set(name, entry);
    else if (name.length === 2 && digits > 2 && mode === MODE_TREE && HEX.test(name)) level.folders.set(name, oid);
    else level.others.push(entry);
  }
  return level;
}

/**
 * Returns the tree entries of one folder of a notes tree. Writes its subfolders first, because the entries contain
 * their ids.
 */
function entriesOf(objects: ObjectDatabase, level: Level): TreeEntry[] {
  dropEmptyFolders(level);
  if (!isFannedOut(level)) {
    unpackFolders(objects, level);
    return [...level.notes.values(), ...level.others];
  }
  for (const note of level.notes.values()) {
    const digits = sliceBytes(note.name, 0, 2);
    const folder = level.folders.get(digits) ?? {
      digits: level.digits - 2,
      notes: new Map(),
      folders: new Map(),
      others: [],
    };
    const opened = openFolder(objects, level, folder);
    const name = sliceBytes(note.name, 2);
    if (!opened.notes.has(name)) opened.notes.set(name, { ...note, name });
    level.folders.set(digits, opened);
  }
  const folders = [...level.folders].map(([name, folder]): TreeEntry => {
    const oid = typeof folder === 'string' ? folder : objects.write(TREE, writeTree(entriesOf(objects, folder)));
    return { name, mode: MODE_TREE, oid };
  });
  return [...folders, ...level.others];
}

/**
 * Returns true if the notes of a folder must be moved into subfolders named by two digits (fan-out).
 *
 * The rule is Git's: for each of the sixteen hexadecimal digits, the names that begin with the digit must have a total
 * weight of at least 2. A note has the weight 1. An existing subfolder has the weight 2, so that removing a few notes
 * does not undo the fan-out.
 */
function isFannedOut({ digits, notes, folders }: Level): boolean {
  if (digits <= 2) return false;
  const weights = new Map<string, number>();
  const add = (name: string, weight: number) => weights.set(name[0]!, (weights.get(name[0]!) ?? 0) + weight);
  for (const name of notes.keys()) add(name, 1);
  for (const [name, folder] of folders)
    add(name, typeof folder === 'string' ? 2 : folder.notes.size + folder.folders.size * 2);
  return weights.size === 16 && [...weights.values()].every((weight) => weight >= 2);
}

function dropEmptyFolders({ folders }: Level): void {
  for (const [name, folder] of folders) {
    if (typeof folder === 'string') continue;
    dropEmptyFolders(folder);
    if (folder.notes.size + folder.folders.size + folder.others.length === 0) folders.delete(name);
  }
}

/**
 * Moves the notes from the subfolders of a folder into the folder itself. Called if there are too few notes for
 * subfolders.
 */
function unpackFolders(objects: ObjectDatabase, level: Level): void {
  for (const [digits, folder] of level.folders) {
    const opened = openFolder(objects, level, folder);
    unpackFolders(objects, opened);
    for (const note of opened.notes.values()) {
      const name = concatBytes(digits, note.name);
      if (!level.notes.has(name)) level.notes.set(name, { ...note, name });
    }
    if (opened.others.length === 0) continue;
    const kept = { name: digits, mode: MODE_TREE };
    level.others.push({ ...kept, oid: objects.write(TREE, writeTree(opened.others)) });
  }
  level.folders.clear();
}
