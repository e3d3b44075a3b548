import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { BLOB, COMMIT, EMPTY_TREE_OID, type ObjectType, TAG, TREE, type TypeCode, typeCode } from '../object/object.js';
import { OID_BYTES, OidSet } from '../object/oid-slots.js';

/** The type of what a tag points at, when its `type` line names none. */
export const ANY = 0;
export type EdgeType = TypeCode | typeof ANY;

const EMPTY_TREE = Buffer.from(EMPTY_TREE_OID, 'hex');
/** Bytes of the shortest tag that Git reads. */
const SHORTEST_TAG = 64;
const NEWLINE = 0x0a;
const SPACE = 0x20;

/** Called with every edge: 20 raw bytes of id at `at`, or hexadecimal digits already turned into them. */
export type OnEdge = (bytes: Uint8Array, at: number, type: EdgeType) => void;

/**
 * Reports what an object points at: a commit its tree and parents, a tree its entries without gitlinks,
 * a tag its object. Returns false when the object is malformed; what was reported before then stands.
 */
export function readEdges(type: TypeCode, body: Buffer, start: number, end: number, onEdge: OnEdge): boolean {
  if (type === TREE) return readTreeEdges(body, start, end, onEdge);
  if (type === COMMIT) return readCommitEdges(body, start, end, onEdge);
  return type === BLOB || readTagEdge(body, start, end, onEdge);
}

/** `<mode in octal> SP <name> NUL <20 bytes>`, repeated; neither mode nor name is empty. */
function readTreeEdges(body: Uint8Array, start: number, end: number, onEdge: OnEdge): boolean {
  let at = start;
  while (at < end) {
    let mode = 0;
    if (body[at] === SPACE) return false;
    for (let byte = body[at++]!; byte !== SPACE; byte = body[at++]!) {
      if (byte < 0x30 || byte > 0x37 || at >= end) return false;
      mode = ((mode << 3) | (byte & 7)) & 0xffff;
    }
    if (body[at] === 0) return false;
    while (at < end && body[at] !== 0) at++;
    if (at + 1 + OID_BYTES > end) return false;
    const format = mode & 0o170000;
    if (format === 0o040000) onEdge(body, at + 1, TREE);
    else if (format === 0o100000 || format === 0o120000) onEdge(body, at + 1, BLOB);
    at += 1 + OID_BYTES;
  }
  return true;
}

/**
 * `tree <40 digits> LF`, then any number of `parent <40 digits> LF`. As for Git, a line that begins like a parent has to
 * be one, unless the object ends before such a line could.
 */
function readCommitEdges(body: Buffer, start: number, end: number, onEdge: OnEdge): boolean {
  const raw = Buffer.alloc(OID_BYTES);
  if (!startsWith(body, start, end, 'tree ') || !readHexLine(body, start + 5, end, raw)) return false;
  onEdge(raw, 0, TREE);
  for (let at = start + 46; at + 48 <= end && startsWith(body, at, end, 'parent '); at += 48) {
    if (!readHexLine(body, at + 7, end, raw)) return false;
    onEdge(raw, 0, COMMIT);
  }
  return true;
}

/** `object <40 digits> LF type <name> LF tag <name> LF`: Git reads no tag without them. */
function readTagEdge(body: Buffer, start: number, end: number, onEdge: OnEdge): boolean {
  const raw = Buffer.alloc(OID_BYTES);
  if (!startsWith(body, start, end, 'object ') || !readHexLine(body, start + 7, end, raw)) return false;
  const line = body.toString('latin1', start + 48, Math.min(end, start + 48 + 12));
  const name = /^type (commit|tree|blob|tag)\n/.exec(line)?.[1];
  onEdge(raw, 0, name === undefined ? ANY : typeCode(name as ObjectType));
  if (name === undefined || end - start < SHORTEST_TAG) return false;
  const at = start + 48 + 'type '.length + name.length + 1;
  const lineEnd = body.indexOf(NEWLINE, at + 4);
  return startsWith(body, at, end, 'tag ') && lineEnd >= 0 && lineEnd < end;
}

function startsWith(body: Buffer, at: number, end: number, key: string): boolean {
  if (at + key.length > end) return false;
  for (let index = 0; index < key.length; index++) {
    if (body[at + index] !== key.charCodeAt(index)) return false;
  }
  return true;
}

/** 40 hexadecimal digits and a line feed. */
function readHexLine(body: Buffer, at: number, end: number, target: Buffer): boolean {
  if (at + 41 > end || body[at + 40] !== NEWLINE) return false;
  return target.write(body.toString('latin1', at, at + 40), 0, 'hex') === OID_BYTES;
}

/** Whether the 20 raw bytes at `at` are the id of the empty tree. */
export function isEmptyTree(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === EMPTY_TREE[0] && EMPTY_TREE.compare(bytes, at, at + OID_BYTES) === 0;
}

/**
 * The ids that new objects point at, each once. When all of them are found at the end, the new objects
 * are connected and nothing has to be walked: an object that points at something missing shows up here.
 */
export class EdgeList {
  readonly #targets = new OidSet();
  readonly #ofCommit = new IntList();
  #types = new Uint8Array(64);
  /** Something is wrong already, and only a walk can tell whether it matters. */
  isDoubtful = false;
  /** A tag names a tag. */
  hasTagOfTag = false;

  /** `mostTargets`: more different targets than this cannot all exist. */
  record(type: TypeCode, body: Buffer, start: number, end: number, mostTargets: number): void {
    if (type === BLOB || this.isDoubtful) return;
    if (!readEdges(type, body, start, end, this.#add)) this.isDoubtful = true;
    if (this.#targets.size > mostTargets) this.isDoubtful = true;
  }

  /** As `record` of a commit: the places of its tree and parents, until the next call; undefined when it is malformed. */
  recordCommit(body: Buffer, start: number, end: number): IntList | undefined {
    this.#ofCommit.clear();
    const isRead = readCommitEdges(body, start, end, (bytes, at, type) =>
      this.#ofCommit.push(this.add(bytes, at, type)),
    );
    return isRead ? this.#ofCommit : undefined;
  }

  get size(): number {
    return this.#targets.size;
  }

  /** The ids of all targets, 20 bytes each. */
  get oids(): Uint8Array {
    return this.#targets.oids;
  }

  startOf(index: number): number {
    return this.#targets.startOf(index);
  }

  typeOf(index: number): EdgeType {
    return this.#types[index] as EdgeType;
  }

  /** Whether the target is the empty tree, which Git knows without storing it. */
  isEmptyTree(index: number): boolean {
    return isEmptyTree(this.oids, this.startOf(index));
  }

  /** Adds a target; returns its place in the list. */
  add(bytes: Uint8Array, at: number, type: EdgeType): number {
    const before = this.#targets.size;
    const index = this.#targets.add(bytes, at);
    if (index === before) {
      this.#types = withRoom(this.#types, index + 1);
      this.#types[index] = type;
      if (type === TAG) this.hasTagOfTag = true;
      return index;
    }
    const known = this.#types[index]!;
    if (known === type) return index;
    if (known === ANY) this.#types[index] = type;
    else if (type !== ANY) this.isDoubtful = true;
    return index;
  }

  readonly #add: OnEdge = (bytes, at, type) => void this.add(bytes, at, type);
}
