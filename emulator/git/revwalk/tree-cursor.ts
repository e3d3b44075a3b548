import { type ByteString, bytesIn } from '../object/bytes.js';
import { MalformedObject } from '../object/malformed-object.js';
import { EMPTY_TREE_OID, MissingObject, type ObjectReader, oidIn } from '../object/object.js';
import { canonicalMode, MODE_GITLINK, MODE_TREE } from '../object/tree.js';

/** Stands for the number of an object where there is none. */
export const NONE = -1;

const SPACE = 0x20;
const SLASH = 0x2f;
const OID_BYTES = 20;

/**
 * Steps over the raw entries of a tree object (`<octal mode> SP <name> NUL <20 bytes of id>`, repeated).
 * Made for comparing two trees: where they are equal, `skipEqual` passes over entries without reading them.
 */
export class TreeCursor {
  /** As stored, not canonical. */
  mode = 0;
  nameStart = 0;
  nameEnd = 0;
  #next = 0;

  constructor(readonly body: Buffer) {}

  /** Where the id of the entry starts. */
  get oidStart(): number {
    return this.nameEnd + 1;
  }

  get isTree(): boolean {
    return (this.mode & 0o170000) === MODE_TREE;
  }

  get isGitlink(): boolean {
    return canonicalMode(this.mode) === MODE_GITLINK;
  }

  get name(): ByteString {
    return bytesIn(this.body, this.nameStart, this.nameEnd);
  }

  /** The number of the object the entry names; `NONE` for an empty tree that is not stored. Throws `MissingObject`. */
  object(objects: ObjectReader): number {
    const number = objects.findRaw(this.body, this.oidStart);
    if (number >= 0) return number;
    const oid = oidIn(this.body, this.oidStart);
    // Git knows the empty tree without storing it.
    if (this.isTree && oid === EMPTY_TREE_OID) return NONE;
    throw new MissingObject(oid);
  }

  /** Goes to the next entry; false at the end. Throws `MalformedObject`. */
  next(): boolean {
    const { body } = this;
    const { length } = body;
    let at = this.#next;
    if (at >= length) return false;
    let mode = 0;
    for (; at < length && body[at] !== SPACE; at++) mode = (mode * 8 + body[at]! - 0x30) & 0xffff;
    this.mode = mode;
    this.nameStart = ++at;
    // Names are short: a loop beats a call into native code.
    while (at < length && body[at] !== 0) at++;
    this.nameEnd = at;
    this.#next = at + 1 + OID_BYTES;
    if (this.#next > length) throw new MalformedObject('tree', 'truncated entry');
    return true;
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

  /** Git's order of two entries: by bytes of the name, that of a folder as if it ended in `/`. */
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
