import { withRoom } from '../../memory/growable.js';
import { ShardedMap } from '../../memory/sharded-map.js';
import { type ByteString, bytesIn } from './bytes.js';
import type { Oid } from './object.js';
import { canonicalMode, MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from './tree.js';
import type { TreeCursor } from './tree-cursor.js';

/** Number that `TreeNames` assigns to a combination of name and mode in a tree entry. */
export type EntryKey = number;
/** Number that `TreeNames` assigns to a file name. */
export type NameId = number;
/**
 * Number that `TreeNames` assigns to the id of an object that is not in this store, such as the commit of a gitlink
 * (submodule).
 */
export type ForeignId = number;

const ONE = 0x31;
/** Modes of tree entries that Git writes. */
const MODES = [MODE_FILE, MODE_TREE, MODE_EXECUTABLE, MODE_SYMLINK, MODE_GITLINK];
const OID_BYTES = 20;
/**
 * Maximum memory in bytes of one `TreeNames`. Without a limit, a client could fill the memory by sending trees with
 * many distinct names. When the limit is reached, received trees are processed without this table.
 */
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * Approximate memory in bytes that one name, key or object id takes. The characters of a name are counted in addition.
 */
const BYTES_EACH = 120;

/**
 * Table that stores each repeated value of a repository's trees once and numbers it (interning). The values are names,
 * names with modes, and ids of gitlinks. Forks of the repository share the table. If two tree entries have equal keys,
 * they have equal bytes before their object id.
 */
export class TreeNames {
  /**
   * Keys of entries with one of the `MODES`. The element `NameId * MODES.length + index of the mode` is the key plus 1;
   * 0 if absent.
   */
  #keysOf = new Int32Array(1024);
  /**
   * Keys of entries with modes that are not in `MODES`. They are found by the bytes of mode and name as stored in the
   * tree.
   */
  readonly #otherKeys = new Map<ByteString, EntryKey>();
  /** Number of each name. */
  readonly #ids = new ShardedMap<ByteString, NameId>(hashOf);
  readonly #names: ByteString[] = [];
  readonly #foreignIds = new Map<Oid, ForeignId>();
  readonly #foreign: Oid[] = [];
  #keyCount = 0;
  // Arrays with one element for each key: the number of the name, the mode, and the length in bytes of the whole tree
  // entry.
  #nameOf = new Int32Array(256);
  #modeOf = new Uint16Array(256);
  #lengthOf = new Int32Array(256);
  /** Approximate memory in bytes that this table uses. */
  heldBytes = 0;

  /** Number of different names in the table. */
  get size(): number {
    return this.#names.length;
  }

  /** True if the table has reached its memory limit, so that received trees are processed without it. */
  get isFull(): boolean {
    return this.heldBytes > MAX_BYTES;
  }

  /**
   * Returns the key of the cursor's current entry, which stands for its name and mode. Adds the name and the key to the
   * table if they are new.
   */
  keyOf(entry: TreeCursor): EntryKey {
    const mode = isWrittenByGit(entry) ? MODES.indexOf(entry.mode) : -1;
    if (mode < 0) return this.#otherKeyOf(entry);
    const { name } = entry;
    const at = (this.#ids.get(name) ?? this.#addName(name)) * MODES.length + mode;
    const known = this.#keysOf[at]! - 1;
    if (known >= 0) return known;
    const key = this.#addKey(Math.floor(at / MODES.length), MODES[mode]!, entry.nameEnd - entry.start);
    this.#keysOf[at] = key + 1;
    return key;
  }

  #otherKeyOf({ body, start, nameEnd, name, mode }: TreeCursor): EntryKey {
    const text = bytesIn(body, start, nameEnd);
    const known = this.#otherKeys.get(text);
    if (known !== undefined) return known;
    const key = this.#addKey(this.#ids.get(name) ?? this.#addName(name), mode, text.length);
    this.#otherKeys.set(text, key);
    this.heldBytes += text.length;
    return key;
  }

  nameOf(key: EntryKey): ByteString {
    return this.#names[this.#nameOf[key]!]!;
  }

  /** Returns the number of the key's name. A file and a folder with equal names have equal numbers. */
  nameIdOf(key: EntryKey): NameId {
    return this.#nameOf[key]!;
  }

  /** Returns the mode as stored in the tree. It may be a mode that Git no longer writes. */
  modeOf(key: EntryKey): number {
    return this.#modeOf[key]!;
  }

  isTree(key: EntryKey): boolean {
    return (this.#modeOf[key]! & 0o170000) === MODE_TREE;
  }

  isGitlink(key: EntryKey): boolean {
    return canonicalMode(this.#modeOf[key]!) === MODE_GITLINK;
  }

  /** Returns the length in bytes of a whole tree entry with this key, including its object id. */
  lengthOf(key: EntryKey): number {
    return this.#lengthOf[key]!;
  }

  /** Returns the number that was assigned to a file name, or -1 if the name is not in the table. */
  find(name: ByteString): NameId {
    return this.#ids.get(name) ?? -1;
  }

  foreign(oid: Oid): ForeignId {
    let id = this.#foreignIds.get(oid);
    if (id === undefined) {
      id = this.#foreign.length;
      this.#foreignIds.set(oid, id);
      this.#foreign.push(oid);
      this.heldBytes += BYTES_EACH;
    }
    return id;
  }

  oidOfForeign(id: ForeignId): Oid {
    return this.#foreign[id]!;
  }

  /**
   * Compares two tree entries, given by their keys, in Git's order (`base_name_compare`). The order is that of the
   * names' bytes, with `/` appended to the name of a folder. Returns -1, 0 or 1.
   */
  order(left: EntryKey, right: EntryKey): number {
    const a = this.#nameOf[left]!;
    const b = this.#nameOf[right]!;
    const isTree = this.isTree(left);
    if (a === b && isTree === this.isTree(right)) return 0;
    const first = isTree ? `${this.#names[a]!}/` : this.#names[a]!;
    const second = this.isTree(right) ? `${this.#names[b]!}/` : this.#names[b]!;
    return first < second ? -1 : first > second ? 1 : 0;
  }

  #addName(name: ByteString): NameId {
    const id = this.#names.length;
    this.#ids.set(name, id);
    this.#names.push(name);
    this.#keysOf = withRoom(this.#keysOf, (id + 1) * MODES.length);
    this.heldBytes += name.length + BYTES_EACH;
    return id;
  }

  /** Adds a key for a name and a mode. `length` is the number of bytes of mode, space and name in the tree entry. */
  #addKey(name: NameId, mode: number, length: number): EntryKey {
    const key = this.#keyCount++;
    this.#nameOf = withRoom(this.#nameOf, key + 1);
    this.#modeOf = withRoom(this.#modeOf, key + 1);
    this.#lengthOf = withRoom(this.#lengthOf, key + 1);
    this.#nameOf[key] = name;
    this.#modeOf[key] = mode;
    this.#lengthOf[key] = length + 1 + OID_BYTES;
    this.heldBytes += BYTES_EACH;
    return key;
  }
}

/**
 * Returns a hash of a name. It is computed from the characters in which the names of a folder differ most, such as the
 * one before a file extension.
 */
function hashOf(name: ByteString): number {
  const { length } = name;
  if (length < 5) return length;
  const characters = name.charCodeAt(length - 1) + name.charCodeAt(length - 5) * 3 + name.charCodeAt(length >> 1) * 5;
  return characters + length;
}

/**
 * Returns true if the mode of the cursor's entry has as many digits as Git writes. The number of digits must be
 * checked, because `TreeCursor` keeps only the low 16 bits of a longer mode.
 */
function isWrittenByGit({ body, start, nameStart, mode }: TreeCursor): boolean {
  const digits = nameStart - start - 1;
  return mode === MODE_TREE ? digits === 5 : digits === 6 && body[start] === ONE;
}
