import { withRoom } from '../../memory/growable.js';
import { type ByteString, bytesIn } from './bytes.js';
import type { Oid } from './object.js';
import { canonicalMode, MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from './tree.js';
import type { TreeCursor } from './tree-cursor.js';

/** What an entry of a tree is called and what it is, by number: its mode as it is stored, and its name. */
export type EntryKey = number;
/** A name by number. */
export type NameId = number;
/** An id of which no object is here, as of the commit that a gitlink names, by number. */
export type ForeignId = number;

/** A power of two. */
const SHARDS = 32;
const ONE = 0x31;
/** The modes that Git writes. */
const MODES = [MODE_FILE, MODE_TREE, MODE_EXECUTABLE, MODE_SYMLINK, MODE_GITLINK];
const OID_BYTES = 20;
/** Bytes of names past which no more are taken in for the sake of speed: distinct ones are cheap to send. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Bytes that one more name, key or id takes, beside its characters. */
const BYTES_EACH = 120;

/**
 * Numbers for what the trees of a repository and its forks say again and again: names, names with modes, and the ids
 * that gitlinks name. Two entries with the same key have the same bytes before their id.
 */
export class TreeNames {
  /** Keys plus 1 of entries with a mode of `MODES`, at `NameId * MODES.length + index of the mode`; 0 if absent. */
  #keysOf = new Int32Array(1024);
  /** Keys of entries with other modes, by their bytes. */
  readonly #otherKeys = new Map<ByteString, EntryKey>();
  /** Name ids by name, in shards, because a map with a million names takes 30 ms to grow. */
  readonly #shards: (Map<ByteString, NameId> | undefined)[] = Array(SHARDS);
  readonly #names: ByteString[] = [];
  readonly #foreignIds = new Map<Oid, ForeignId>();
  readonly #foreign: Oid[] = [];
  #keyCount = 0;
  // By key:
  #nameOf = new Int32Array(256);
  #modeOf = new Uint16Array(256);
  #lengthOf = new Int32Array(256);
  /** Bytes that it takes, about. */
  heldBytes = 0;

  /** Number of names. */
  get size(): number {
    return this.#names.length;
  }

  /** Whether there are so many that trees which come in are read without them. */
  get isFull(): boolean {
    return this.heldBytes > MOST_BYTES;
  }

  /** The key of the entry at which the cursor stands. */
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

  /** The number of the name alone: the same for a file and a folder. */
  nameIdOf(key: EntryKey): NameId {
    return this.#nameOf[key]!;
  }

  /** As stored, not canonical. */
  modeOf(key: EntryKey): number {
    return this.#modeOf[key]!;
  }

  isTree(key: EntryKey): boolean {
    return (this.#modeOf[key]! & 0o170000) === MODE_TREE;
  }

  isGitlink(key: EntryKey): boolean {
    return canonicalMode(this.#modeOf[key]!) === MODE_GITLINK;
  }

  /** Bytes of the whole entry, with its id. */
  lengthOf(key: EntryKey): number {
    return this.#lengthOf[key]!;
  }

  /** The number of a name, or -1 when no tree that was read has it. */
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

  /** Git's order of two entries, `base_name_compare`: by bytes of the name, that of a folder as if it ended in `/`. */
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

  /** `length`: bytes of mode and name. */
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

/** Returns a number below `SHARDS`, by the characters in which names of one folder differ most: before an extension, too. */
function shardOf(name: ByteString): number {
  const { length } = name;
  if (length < 5) return length;
  const hash = name.charCodeAt(length - 1) + name.charCodeAt(length - 5) * 3 + name.charCodeAt(length >> 1) * 5;
  return (hash + length) & (SHARDS - 1);
}

/** Returns true if the mode of an entry has as many digits as Git writes. The mode of more than 16 bits is cut. */
function isWrittenByGit({ body, start, nameStart, mode }: TreeCursor): boolean {
  const digits = nameStart - start - 1;
  return mode === MODE_TREE ? digits === 5 : digits === 6 && body[start] === ONE;
}
