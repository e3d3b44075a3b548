import { COST } from '../schedule/cost.js';
import { atOnce, PIECE, type Steps } from '../schedule/steps.js';
import { type ByteString, bytesIn } from './bytes.js';
import { MalformedObject } from './malformed-object.js';
import { EMPTY_TREE_OID, type ObjectReader, type Oid, oidIn, readAs, TREE } from './object.js';

export const MODE_TREE = 0o040000;
export const MODE_FILE = 0o100644;
export const MODE_EXECUTABLE = 0o100755;
export const MODE_SYMLINK = 0o120000;
export const MODE_GITLINK = 0o160000;

export interface TreeEntry {
  /** One of the five modes above, whatever older tools wrote. */
  readonly mode: number;
  readonly name: ByteString;
  readonly oid: Oid;
}

/** What a path holds: a tree entry, named by its path from the root. */
export interface PathEntry {
  readonly path: ByteString;
  readonly mode: number;
  readonly oid: Oid;
}

const SLASH = 0x2f;
const SHORT_NAME = 64;
const EMPTY = Buffer.alloc(0);

/** The mode as Git reads it: of files only the owner's x bit counts, and what is neither file, link nor tree is a gitlink. */
export function canonicalMode(mode: number): number {
  switch (mode & 0o170000) {
    case 0o100000:
      return mode & 0o100 ? MODE_EXECUTABLE : MODE_FILE;
    case MODE_SYMLINK:
      return MODE_SYMLINK;
    case MODE_TREE:
      return MODE_TREE;
    default:
      return MODE_GITLINK;
  }
}

/** A mode as the API and `git ls-tree` write it: six octal digits. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, '0');
}

/**
 * Steps over the entries of a tree object without allocating:
 *
 *     <mode in octal> SP <name> NUL <20 bytes of id>      (repeated, sorted by name, folders as if ended by `/`)
 *
 * `next` throws `MalformedObject` where Git could not read on either.
 */
export class TreeScanner {
  /** As stored, not canonical. */
  mode = 0;
  /** Where the entry starts, with the digits of its mode. */
  start = 0;
  nameStart = 0;
  nameEnd = 0;
  /** Where the 20 raw bytes of the id start. */
  oidStart = 0;
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

  next(): boolean {
    const { body } = this;
    let at = this.#next;
    if (at >= body.length) return false;
    const start = at;
    let mode = 0;
    for (; body[at] !== 0x20; at++) {
      const digit = (body[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 7) throw new MalformedObject('tree', 'malformed mode');
      mode = (mode * 8 + digit) & 0xffff;
    }
    if (at === start) throw new MalformedObject('tree', 'malformed mode');
    // Most names are short: a loop is done before a call into native code has begun.
    let end = at + 1;
    for (const near = Math.min(body.length, end + SHORT_NAME); end < near && body[end] !== 0; ) end++;
    if (body[end] !== 0) end = body.indexOf(0, end);
    if (end < 0) throw new MalformedObject('tree', 'truncated entry');
    if (end + 21 > body.length) throw new MalformedObject('tree', 'truncated entry');
    if (end === at + 1) throw new MalformedObject('tree', 'empty name');
    this.mode = mode;
    this.start = start;
    this.nameStart = at + 1;
    this.nameEnd = end;
    this.oidStart = end + 1;
    this.#next = end + 21;
    return true;
  }

  get isTree(): boolean {
    return (this.mode & 0o170000) === MODE_TREE;
  }

  get name(): ByteString {
    return bytesIn(this.body, this.nameStart, this.nameEnd);
  }

  get oid(): Oid {
    return oidIn(this.body, this.oidStart);
  }
}

/** All entries, in stored order; throws `MalformedObject`. */
export function parseTree(body: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  const scan = new TreeScanner(body);
  while (scan.next()) entries.push({ mode: canonicalMode(scan.mode), name: scan.name, oid: scan.oid });
  return entries;
}

/** Writes the entries in Git's order, whatever order they come in. */
export function writeTree(entries: Iterable<TreeEntry>): Buffer {
  const sorted = [...entries].sort(compareEntries);
  let size = 0;
  for (const { mode, name } of sorted) size += (mode === MODE_TREE ? 5 : 6) + 1 + name.length + 1 + 20;
  const body = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { mode, name, oid } of sorted) {
    at += body.write(`${mode.toString(8)} ${name}\0`, at, 'latin1');
    at += body.write(oid, at, 'hex');
  }
  return body;
}

/** Git's order of tree entries: by bytes, the name of a folder as if it ended in `/`. */
export function compareEntries(a: Pick<TreeEntry, 'mode' | 'name'>, b: Pick<TreeEntry, 'mode' | 'name'>): number {
  const left = a.mode === MODE_TREE ? `${a.name}/` : a.name;
  const right = b.mode === MODE_TREE ? `${b.name}/` : b.name;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The body of a tree; the empty tree needs no stored object. Throws `MissingObject`. */
export function readTreeBody(objects: ObjectReader, oid: Oid): Buffer {
  return oid === EMPTY_TREE_OID && objects.find(oid) < 0 ? EMPTY : readAs(objects, oid, TREE);
}

export function readTree(objects: ObjectReader, oid: Oid): TreeEntry[] {
  return parseTree(readTreeBody(objects, oid));
}

/** What `path` holds below `tree`; undefined when nothing is there. The empty path is the tree itself. */
export function entryAt(objects: ObjectReader, tree: Oid, path: ByteString): PathEntry | undefined {
  return atOnce(findEntry(objects, tree, path));
}

/** As `entryAt`, in steps. */
export function* findEntry(objects: ObjectReader, tree: Oid, path: ByteString): Steps<PathEntry | undefined> {
  let mode = MODE_TREE;
  let oid = tree;
  if (path === '') return { path, mode, oid };
  const bytes = Buffer.from(path, 'latin1');
  for (let start = 0; start <= bytes.length; ) {
    if (mode !== MODE_TREE) return undefined;
    const slash = bytes.indexOf(SLASH, start);
    const end = slash < 0 ? bytes.length : slash;
    const scan = new TreeScanner(readTreeBody(objects, oid));
    if (!(yield* findName(scan, bytes, start, end))) return undefined;
    mode = canonicalMode(scan.mode);
    oid = scan.oid;
    start = end + 1;
  }
  return { path, mode, oid };
}

function* findName(scan: TreeScanner, bytes: Buffer, start: number, end: number): Steps<boolean> {
  let isFound = false;
  for (let entries = 1; !isFound && scan.next(); entries++) {
    if (entries % PIECE === 0) yield PIECE * COST.entry;
    if (scan.nameEnd - scan.nameStart !== end - start) continue;
    isFound = scan.body.compare(bytes, start, end, scan.nameStart, scan.nameEnd) === 0;
  }
  yield COST.entry;
  return isFound;
}
