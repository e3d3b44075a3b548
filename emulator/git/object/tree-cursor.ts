import { type ByteString, bytesIn } from './bytes.js';
import { MalformedObject } from './malformed-object.js';
import { type Oid, oidIn } from './object.js';
import { canonicalMode, fileType, MODE_GITLINK, MODE_TREE } from './tree.js';

/** Object number in a tree entry whose object is not stored. */
export const NONE = -1;

const SPACE = 0x20;
const OID_BYTES = 20;
const SHORT_NAME = 64;

/**
 * Cursor over the entries of a tree object. It allocates no memory for each entry. The format of a tree object is:
 *
 *     <mode in octal> SP <name> NUL <20 bytes of id>      (repeated, sorted by name, folders as if ended by `/`)
 *
 * `next` throws `MalformedObject` if Git could not read the entry either.
 */
export class TreeCursor {
  /** Mode of the current entry as stored. It may be an old mode that Git no longer writes. */
  mode = 0;
  /** Offset in the tree at which the current entry starts. The entry begins with the digits of its mode. */
  start = 0;
  nameStart = 0;
  nameEnd = 0;

  /** `position` is the offset in `body` at which the next entry starts. */
  constructor(
    readonly body: Buffer,
    public position = 0,
  ) {}

  /** Offset in the tree at which the object id of the current entry starts (20 raw bytes). */
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

  /** Moves the cursor to the next entry. Returns false after the last entry. */
  next(): boolean {
    const { body } = this;
    const { length } = body;
    const start = this.position;
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
    // The loop searches the end of the name in the first 64 bytes. Most names are short, and for these a loop is faster
    // than a call into native code.
    let end = nameStart;
    for (const near = Math.min(length, end + SHORT_NAME); end < near && body[end] !== 0; ) end++;
    if (body[end] !== 0) end = body.indexOf(0, end);
    if (end < 0 || end + 1 + OID_BYTES > length) throw new MalformedObject('tree', 'truncated entry');
    if (end === nameStart) throw new MalformedObject('tree', 'empty name');
    this.mode = mode;
    this.start = start;
    this.nameStart = nameStart;
    this.nameEnd = end;
    this.position = end + 1 + OID_BYTES;
    return true;
  }

  hasName(bytes: Buffer, start: number, end: number): boolean {
    return (
      this.nameEnd - this.nameStart === end - start &&
      this.body.compare(bytes, start, end, this.nameStart, this.nameEnd) === 0
    );
  }
}
