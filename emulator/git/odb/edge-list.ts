import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, runSync, type Steps } from '../../schedule/steps.js';
import { startsWithAt } from '../object/bytes.js';
import { MalformedObject } from '../object/malformed-object.js';
import { BLOB, COMMIT, EMPTY_TREE_OID, type ObjectType, TAG, TREE, type TypeCode, typeCode } from '../object/object.js';
import { OID_BYTES, OidSet } from '../object/oid-slots.js';
import { TreeCursor } from '../object/tree-cursor.js';

/** Type of an edge from a tag whose `type` line names no known type. */
export const ANY = 0;
export type EdgeType = TypeCode | typeof ANY;

const EMPTY_TREE = Buffer.from(EMPTY_TREE_OID, 'hex');
/** Length in bytes of the shortest tag that Git reads. */
const SHORTEST_TAG = 64;
const NEWLINE = 0x0a;

/** Callback for every edge: the id is 20 raw bytes at `at`, decoded first if it was hexadecimal. */
export type OnEdge = (bytes: Uint8Array, at: number, type: EdgeType) => void;

/**
 * Reports the edges of an object: a commit's tree and parents, a tree's entries without gitlinks, a tag's object.
 * Returns false if the object is malformed; edges reported before that remain valid. Yields while it works.
 */
export function* readEdges(type: TypeCode, body: Buffer, onEdge: OnEdge): Steps<boolean> {
  if (type === TREE) return yield* readTreeEdges(body, onEdge);
  if (type === COMMIT) return yield* readCommitEdges(body, onEdge);
  return type === BLOB || readTagEdge(body, onEdge);
}

function* readTreeEdges(body: Buffer, onEdge: OnEdge): Steps<boolean> {
  const entry = new TreeCursor(body);
  try {
    for (let entries = 1; entry.next(); entries++) {
      if (!entry.isGitlink) onEdge(body, entry.oidStart, entry.isTree ? TREE : BLOB);
      if (entries % PIECE === 0) yield PIECE * COST.entry;
    }
    return true;
  } catch (error) {
    if (error instanceof MalformedObject) return false;
    throw error;
  }
}

/**
 * Reads `tree <40 digits> LF` and any number of `parent <40 digits> LF`. As in Git, a line that begins with `parent `
 * must be valid, unless the object ends too early for such a line.
 */
function* readCommitEdges(body: Buffer, onEdge: OnEdge): Steps<boolean> {
  const raw = Buffer.alloc(OID_BYTES);
  if (!startsWithAt(body, 0, 'tree ') || !readHexLine(body, 5, raw)) return false;
  onEdge(raw, 0, TREE);
  let parents = 0;
  for (let at = 46; at + 48 <= body.length && startsWithAt(body, at, 'parent '); at += 48) {
    if (!readHexLine(body, at + 7, raw)) return false;
    onEdge(raw, 0, COMMIT);
    if (++parents % PIECE === 0) yield PIECE * COST.line;
  }
  return true;
}

/** Reads `object <40 digits> LF type <name> LF tag <name> LF`. Git reads no tag without these lines. */
function readTagEdge(body: Buffer, onEdge: OnEdge): boolean {
  const raw = Buffer.alloc(OID_BYTES);
  if (!startsWithAt(body, 0, 'object ') || !readHexLine(body, 7, raw)) return false;
  const name = /^type (commit|tree|blob|tag)\n/.exec(body.toString('latin1', 48, 48 + 12))?.[1];
  onEdge(raw, 0, name === undefined ? ANY : typeCode(name as ObjectType));
  if (name === undefined || body.length < SHORTEST_TAG) return false;
  const at = 48 + 'type '.length + name.length + 1;
  return startsWithAt(body, at, 'tag ') && body.indexOf(NEWLINE, at + 4) >= 0;
}

/** Decodes 40 hexadecimal digits followed by a line feed. Returns false if they are malformed. */
function readHexLine(body: Buffer, at: number, target: Buffer): boolean {
  return body[at + 40] === NEWLINE && target.write(body.toString('latin1', at, at + 40), 0, 'hex') === OID_BYTES;
}

/** Returns true if the 20 raw bytes at `at` are the id of the empty tree. */
export function isEmptyTree(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === EMPTY_TREE[0] && EMPTY_TREE.compare(bytes, at, at + OID_BYTES) === 0;
}

/**
 * Set of the ids that new objects point at. If all of them are present at the end, the new objects are connected
 * without a walk, because every missing target is in this set.
 */
export class EdgeList {
  readonly #targets = new OidSet();
  readonly #ofCommit = new IntList();
  #types = new Uint8Array(64);
  /**
   * True if an object is malformed, or a target is missing, incomplete or of the wrong type. Only a walk can then
   * decide whether the tips are connected.
   */
  isDoubtful = false;
  /** True if a tag points at a tag. */
  hasTagOfTag = false;

  /**
   * Records the edges of an object; yields while it works. `mostTargets`: maximum number of distinct targets that can
   * exist.
   */
  *record(type: TypeCode, body: Buffer, maxTargets: number): Steps<void> {
    if (type === BLOB || this.isDoubtful) return;
    const isRead = yield* readEdges(type, body, this.#add);
    if (!isRead || this.#targets.size > maxTargets) this.isDoubtful = true;
  }

  /**
   * Same as `record`, for a commit. Returns the indexes of its tree and parents in this list, valid until the next
   * call; undefined if the commit is malformed.
   */
  recordCommit(body: Buffer): IntList | undefined {
    this.#ofCommit.clear();
    const steps = readCommitEdges(body, (bytes, at, type) => this.#ofCommit.push(this.add(bytes, at, type)));
    return runSync(steps) ? this.#ofCommit : undefined;
  }

  get size(): number {
    return this.#targets.size;
  }

  /** Ids of all targets, 20 bytes each. */
  get oids(): Uint8Array {
    return this.#targets.oids;
  }

  startOf(index: number): number {
    return this.#targets.startOf(index);
  }

  typeOf(index: number): EdgeType {
    return this.#types[index] as EdgeType;
  }

  /** Returns true if the target is the empty tree, which Git can read without storing it. */
  isEmptyTree(index: number): boolean {
    return isEmptyTree(this.oids, this.startOf(index));
  }

  /** Adds a target. Returns its index in the list. */
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
