import { withRoom } from '../../memory/growable.js';
import { type ByteString, bytesIn } from './bytes.js';
import type { Oid } from './object.js';
import { canonicalMode, MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from './tree.js';
import type { TreeCursor } from './tree-cursor.js';

/** Number of a pair of name and stored mode. */
export type EntryKey = number;
/** Number of a name. */
export type NameId = number;
/** Number of an id that has no object in this store, such as the commit named by a gitlink. */
export type ForeignId = number;

/** Number of shards; a power of two. */
const SHARDS = 32;
const ONE = 0x31;
/** Modes that Git writes. */
const MODES = [MODE_FILE, MODE_TREE, MODE_EXECUTABLE, MODE_SYMLINK, MODE_GITLINK];
const OID_BYTES = 20;
/**
 * Limit of `heldBytes`. Above it, received trees are read without this table, because a client can send distinct names
 * cheaply and so fill the memory.
 */
const MAX_BYTES = 64 * 1024 * 1024;
/** Approximate memory of one name, key or id in bytes, beside its characters. */
const BYTES_EACH = 120;

/**
 * Intern table for data that repeats across the trees of a repository and its forks: names, names with modes, and the
 * ids named by gitlinks. Two entries with the same key have the same bytes before their id.
 */
export class TreeNames {
  /** Keys plus 1 of entries with a mode of `MODES`, at `NameId * MODES.length + index of the mode`; 0 if absent. */
  #keysOf = new Int32Array(1024);
  /** Keys of entries with other modes, by the bytes of mode and name. */
  readonly #otherKeys = new Map<ByteString, EntryKey>();
  /** Name ids by name, in shards, because a map with a million names takes 30 ms to grow. */
  readonly #shards: (Map<ByteString, NameId> | undefined)[] = Array(SHARDS);
  readonly #names: ByteString[] = [];
  readonly #foreignIds = new Map<Oid, ForeignId>();
  readonly #foreign: Oid[] = [];
  #keyCount = 0;
  // Indexed by key:
  #nameOf = new Int32Array(256);
  #modeOf = new Uint16Array(256);
  #lengthOf = new Int32Array(256);
  /** Approximate memory use in bytes. */
  heldBytes = 0;

  /** Number of names. */
  get size(): number {
    return this.#names.length;
  }

  /** True if the table has reached its limit, so that received trees are read without it. */
  get isFull(): boolean {
    return this.heldBytes > MAX_BYTES;
  }

  /** Returns the key of the cursor's current entry. Adds the entry's name and mode if they are new. */
  keyOf(entry: TreeCursor): EntryKey {
    const mode = isWrittenByGit(entry) ? MODES.indexOf(entry.mode) : -1;
    if (mode < 0) return this.#otherKeyOf(entry);
    const { name } = entry;
    const at = (this.#shards[shardOf(name)]?.get(name) ?? this.#addName(name)) * MODES.length + mode;
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
    const key = this.#addKey(this.#shards[shardOf(name)]?.get(name) ?? this.#addName(name), mode, text.length);
    this.#otherKeys.set(text, key);
    this.heldBytes += text.length;
    return key;
  }

  nameOf(key: EntryKey): ByteString {
    return this.#names[this.#nameOf[key]!]!;
  }

  /** Returns the number of the name alone, which is the same for a file and a folder. */
  nameIdOf(key: EntryKey): NameId {
    return this.#nameOf[key]!;
  }

  /** Returns the mode as stored, not canonical. */
  modeOf(key: EntryKey): number {
    return this.#modeOf[key]!;
  }

  isTree(key: EntryKey): boolean {
    return (this.#modeOf[key]! & 0o170000) === MODE_TREE;
  }

  isGitlink(key: EntryKey): boolean {
    return canonicalMode(this.#modeOf[key]!) === MODE_GITLINK;
  }

  /** Returns the length of the whole entry in bytes, including its id. */
  lengthOf(key: EntryKey): number {
    return this.#lengthOf[key]!;
  }

  /** Returns the number of a name, or -1 if it is not in the table. */
  find(name: ByteString): NameId {
    return this.#shards[shardOf(name)]?.get(name) ?? -1;
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
   * Compares two entries in Git's order (`base_name_compare`): by the bytes of their names, with `/` appended to the
   * name of a folder.
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
    const shard = shardOf(name);
    this.#shards[shard] ??= new Map();
    this.#shards[shard].set(name, id);
    this.#names.push(name);
    this.#keysOf = withRoom(this.#keysOf, (id + 1) * MODES.length);
    this.heldBytes += name.length + BYTES_EACH;
    return id;
  }

  /** `length`: bytes of mode and name together. */
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
 * Returns a shard number below `SHARDS`. Hashes the characters in which the names of a folder differ most, including
 * the one before an extension.
 */
function shardOf(name: ByteString): number {
  const { length } = name;
  if (length < 5) return length;
  const hash = name.charCodeAt(length - 1) + name.charCodeAt(length - 5) * 3 + name.charCodeAt(length >> 1) * 5;
  return (hash + length) & (SHARDS - 1);
}

/**
 * Returns true if the mode of an entry has as many digits as Git writes. `TreeCursor` keeps only the low 16 bits of a
 * longer mode.
 */
function isWrittenByGit({ body, start, nameStart, mode }: TreeCursor): boolean {
  const digits = nameStart - start - 1;
  return mode === MODE_TREE ? digits === 5 : digits === 6 && body[start] === ONE;
}
