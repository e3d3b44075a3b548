import { type ByteString, bytesIn, sliceBytes } from './bytes.js';
import type { Oid } from './object.js';
import { canonicalMode, MODE_GITLINK, MODE_TREE } from './tree.js';

/** What an entry of a tree is called and what it is, by number: its mode as it is stored, and its name. */
export type EntryKey = number;
/** A name by number. */
export type NameId = number;
/** An id of which no object is here, as of the commit that a gitlink names, by number. */
export type ForeignId = number;

const SPACE = 0x20;
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
  readonly #keys = new Map<ByteString, EntryKey>();
  readonly #ids = new Map<ByteString, NameId>();
  readonly #names: ByteString[] = [];
  readonly #foreignIds = new Map<Oid, ForeignId>();
  readonly #foreign: Oid[] = [];
  // By key:
  readonly #nameOf: NameId[] = [];
  readonly #modeOf: number[] = [];
  readonly #lengthOf: number[] = [];
  /** Bytes that it takes, about. */
  heldBytes = 0;

  /** Whether there are so many that trees which come in are read without them. */
  get isFull(): boolean {
    return this.heldBytes > MOST_BYTES;
  }

  /** The key of an entry: `<mode in octal> SP <name>` from `start` to `end`, of which the name starts at `nameStart`. */
  keyIn(body: Buffer, start: number, nameStart: number, end: number): EntryKey {
    const text = bytesIn(body, start, end);
    return this.#keys.get(text) ?? this.#addKey(text, nameStart - start);
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

  #addKey(text: ByteString, nameStart: number): EntryKey {
    const name = sliceBytes(text, nameStart);
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#names.length;
      this.#ids.set(name, id);
      this.#names.push(name);
      this.heldBytes += name.length + BYTES_EACH;
    }
    const key = this.#modeOf.length;
    this.#keys.set(text, key);
    this.#nameOf.push(id);
    this.#modeOf.push(modeIn(text));
    this.#lengthOf.push(text.length + 1 + OID_BYTES);
    this.heldBytes += text.length + BYTES_EACH;
    return key;
  }
}

/** The octal digits at the start, of which 16 bits count. */
function modeIn(text: ByteString): number {
  let mode = 0;
  for (let at = 0; text.charCodeAt(at) !== SPACE; at++) mode = (mode * 8 + text.charCodeAt(at) - 0x30) & 0xffff;
  return mode;
}
