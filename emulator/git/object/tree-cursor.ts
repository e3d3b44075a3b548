import { type ByteString, bytesIn } from './bytes.js';
import { MalformedObject } from './malformed-object.js';
import { EMPTY_TREE_OID, MissingObject, type ObjectReader, type Oid, oidIn } from './object.js';
import { canonicalMode, fileType, MODE_GITLINK, MODE_TREE } from './tree.js';

/** Stands for the number of an object where there is none. */
export const NONE = -1;

const SPACE = 0x20;
const SLASH = 0x2f;
const OID_BYTES = 20;
const SHORT_NAME = 64;

/**
 * Steps over the entries of a tree object without allocating:
 *
 *     <mode in octal> SP <name> NUL <20 bytes of id>      (repeated, sorted by name, folders as if ended by `/`)
 *
 * `next` throws `MalformedObject` where Git could not read on either.
 */
export class TreeCursor {
  /** As stored, not canonical. */
  mode = 0;
  /** Where the entry starts, with the digits of its mode. */
  start = 0;
  nameStart = 0;
  nameEnd = 0;
  #next: number;

  /** `position`: where an entry starts. */
  constructor(
    readonly body: Buffer,
    position = 0,
  ) {
    this.#next = position;
  }

  /** Where the next entry starts. */
  get position(): number {
    return this.#next;
  }

  /** Where the 20 raw bytes of the id start. */
  get oidStart(): number {
    return this.nameEnd + 1;
  }

  get isTree(): boolean {
    return fileType(this.mode) === MODE_TREE;
  }

  get isGitlink(): boolean {
    return canonicalMode(this.mode) === MODE_GITLINK;
  }

  get name(): ByteString {
    return bytesIn(this.body, this.nameStart, this.nameEnd);
  }

  get oid(): Oid {
    return oidIn(this.body, this.nameEnd + 1);
  }

  /** The number of the object the entry names; `NONE` for an empty tree that is not stored. Throws `MissingObject`. */
  object(objects: ObjectReader): number {
    const number = objects.findRaw(this.body, this.oidStart);
    if (number >= 0) return number;
    // Git knows the empty tree without storing it.
    if (this.isTree && this.oid === EMPTY_TREE_OID) return NONE;
    throw new MissingObject(this.oid);
  }

  /** Goes to the next entry; false at the end. */
  next(): boolean {
    const { body } = this;
    const { length } = body;
    const start = this.#next;
    if (start >= length) return false;
    let at = start;
    let mode = 0;
    for (; body[at] !== SPACE; at++) {
      const digit = (body[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 7) throw new MalformedObject('tree', 'malformed mode');
      mode = (mode * 8 + digit) & 0xffff;
    }
    if (at === start) throw new MalformedObject('tree', 'malformed mode');
    const nameStart = at + 1;
    // Most names are short: a loop is done before a call into native code has begun.
    let end = nameStart;
    for (const near = Math.min(length, end + SHORT_NAME); end < near && body[end] !== 0; ) end++;
    if (body[end] !== 0) end = body.indexOf(0, end);
    if (end < 0 || end + 1 + OID_BYTES > length) throw new MalformedObject('tree', 'truncated entry');
    if (end === nameStart) throw new MalformedObject('tree', 'empty name');
    this.mode = mode;
    this.start = start;
    this.nameStart = nameStart;
    this.nameEnd = end;
    this.#next = end + 1 + OID_BYTES;
    return true;
  }

  /** Goes to the first entry of this name; false if there is none. */
  find(name: Buffer): boolean {
    while (this.next()) if (this.hasName(name, 0, name.length)) return true;
    return false;
  }

  hasName(bytes: Buffer, start: number, end: number): boolean {
    return (
      this.nameEnd - this.nameStart === end - start &&
      this.body.compare(bytes, start, end, this.nameStart, this.nameEnd) === 0
    );
  }

  /** Moves two cursors past all entries that are the same, byte for byte, from here on. */
  static skipEqual(left: TreeCursor, right: TreeCursor): void {
    const a = left.body;
    const b = right.body;
    let atA = left.#next;
    let atB = right.#next;
    while (atA < a.length && atB < b.length) {
      let length = 0;
      while (a[atA + length] === b[atB + length] && a[atA + length]! > 0) length++;
      if (a[atA + length] !== 0 || b[atB + length] !== 0) break;
      const end = length + 1 + OID_BYTES;
      do length++;
      while (length < end && a[atA + length] === b[atB + length]);
      if (length < end) break;
      atA += end;
      atB += end;
    }
    left.#next = atA;
    right.#next = atB;
  }

  /** Git's order of two entries, `base_name_compare`: by bytes of the name, that of a folder as if it ended in `/`. */
  static order(left: TreeCursor, right: TreeCursor): number {
    const a = left.body;
    const b = right.body;
    let atA = left.nameStart;
    let atB = right.nameStart;
    for (;;) {
      const byteA = atA < left.nameEnd ? a[atA++]! : atA++ === left.nameEnd && left.isTree ? SLASH : 0;
      const byteB = atB < right.nameEnd ? b[atB++]! : atB++ === right.nameEnd && right.isTree ? SLASH : 0;
      if (byteA !== byteB) return byteA - byteB;
      if (byteA === 0) return 0;
    }
  }

  static isSameId(left: TreeCursor, right: TreeCursor): boolean {
    const a = left.body;
    const b = right.body;
    const atA = left.oidStart;
    const atB = right.oidStart;
    for (let byte = 0; byte < OID_BYTES; byte++) {
      if (a[atA + byte] !== b[atB + byte]) return false;
    }
    return true;
  }
}
