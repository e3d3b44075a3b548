import { withRoom } from '../../memory/growable.js';
import { IntList } from '../../memory/int-list.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, runSync, type Steps } from '../../schedule/steps.js';
import { startsWithAt } from '../object/bytes.js';
import { MalformedObject } from '../object/malformed-object.js';
import { BLOB, COMMIT, EMPTY_TREE_OID, type ObjectType, TAG, TREE, type TypeCode, typeCode } from '../object/object.js';
import { OID_BYTES, OidSet } from '../object/oid-slots.js';
import { TreeCursor } from '../object/tree-cursor.js';

/**
 * Required type of an edge's target (an edge is a reference from one object to another) if any type is allowed. Used
 * for a tag whose `type` line contains no known type.
 */
export const ANY = 0;
export type EdgeType = TypeCode | typeof ANY;

const EMPTY_TREE = Buffer.from(EMPTY_TREE_OID, 'hex');
/** Length in bytes of the shortest tag that Git reads. */
const SHORTEST_TAG = 64;
const NEWLINE = 0x0a;

/**
 * Callback for each edge (reference from one object to another). `bytes` contains the 20-byte id of the target at
 * offset `at`. `type` is the required type of the target.
 */
export type OnEdge = (bytes: Uint8Array, at: number, type: EdgeType) => void;

/**
 * Calls `onEdge` for each object that the given object refers to. A commit refers to its tree and parents, a tag to its
 * object, and a tree to its entries except gitlinks (submodule commits).
 *
 * Returns false if the object is malformed; edges reported before remain valid. Yields between pieces of work, so that
 * other requests can run.
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
 * Reports the tree and the parents of a commit: `tree <40 digits> LF`, then any number of `parent <40 digits> LF`. A
 * line that begins with `parent ` must be valid, as in Git. It is ignored if the object ends before the line is
 * complete.
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

/**
 * Reports the target of a tag, which begins with `object <40 digits> LF type <name> LF tag <name> LF`. Returns false if
 * one of these lines is malformed, because Git refuses to read such a tag.
 */
function readTagEdge(body: Buffer, onEdge: OnEdge): boolean {
  const raw = Buffer.alloc(OID_BYTES);
  if (!startsWithAt(body, 0, 'object ') || !readHexLine(body, 7, raw)) return false;
  const name = /^type (commit|tree|blob|tag)\n/.exec(body.toString('latin1', 48, 48 + 12))?.[1];
  onEdge(raw, 0, name === undefined ? ANY : typeCode(name as ObjectType));
  if (name === undefined || body.length < SHORTEST_TAG) return false;
  const at = 48 + 'type '.length + name.length + 1;
  return startsWithAt(body, at, 'tag ') && body.indexOf(NEWLINE, at + 4) >= 0;
}

/**
 * Decodes the 40 hexadecimal digits at offset `at` into the 20 bytes of `target`. Returns false if the digits are
 * invalid or no line feed follows them.
 */
function readHexLine(body: Buffer, at: number, target: Buffer): boolean {
  return body[at + 40] === NEWLINE && target.write(body.toString('latin1', at, at + 40), 0, 'hex') === OID_BYTES;
}

/** Returns true if the 20 raw bytes at `at` are the id of the empty tree. */
export function isEmptyTree(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === EMPTY_TREE[0] && EMPTY_TREE.compare(bytes, at, at + OID_BYTES) === 0;
}

/**
 * Set of the targets of new objects: the ids of the objects that they refer to. Each target has a required type.
 *
 * The connectivity check of a push uses it. If all targets are present at the end of the push, the new objects are
 * connected, and no walk over the history is needed.
 */
export class EdgeList {
  readonly #targets = new OidSet();
  readonly #ofCommit = new IntList();
  #types = new Uint8Array(64);
  /**
   * True if only a walk over the history can decide whether the refs of the push are connected. This is so if a new
   * object is malformed. It is also so if a target is missing, has the wrong type, or is incomplete (something
   * reachable from it is missing).
   */
  isDoubtful = false;
  /** True if a new annotated tag refers to another tag. */
  hasTagOfTag = false;

  /**
   * Records everything that a new object refers to. Yields between pieces of work, so that other requests can run.
   *
   * `maxTargets` is the largest number of distinct targets that can be present. If there are more, some are missing;
   * the list then stops growing and becomes doubtful.
   */
  *record(type: TypeCode, body: Buffer, maxTargets: number): Steps<void> {
    if (type === BLOB || this.isDoubtful) return;
    const isRead = yield* readEdges(type, body, this.#add);
    if (!isRead || this.#targets.size > maxTargets) this.isDoubtful = true;
  }

  /**
   * Variant of `record` for a commit. Returns the indexes in this list of the commit's tree and parents, in this order;
   * undefined if the commit is malformed. The next call overwrites the returned list.
   */
  recordCommit(body: Buffer): IntList | undefined {
    this.#ofCommit.clear();
    const steps = readCommitEdges(body, (bytes, at, type) => this.#ofCommit.push(this.add(bytes, at, type)));
    return runSync(steps) ? this.#ofCommit : undefined;
  }

  /** Number of targets that the list will probably contain. The list then grows in fewer, larger steps. */
  set expected(count: number) {
    this.#targets.expected = count;
  }

  get size(): number {
    return this.#targets.size;
  }

  /** Ids of all objects that new objects refer to (targets), 20 bytes each. */
  get oids(): Uint8Array {
    return this.#targets.oids;
  }

  startOf(index: number): number {
    return this.#targets.startOf(index);
  }

  typeOf(index: number): EdgeType {
    return this.#types[index] as EdgeType;
  }

  /**
   * Returns true if the target `index` is the empty tree. Git can read the empty tree even if no repository stores it.
   */
  isEmptyTree(index: number): boolean {
    return isEmptyTree(this.oids, this.startOf(index));
  }

  /**
   * Adds the target whose id is the 20 bytes at offset `at` of `bytes`. Returns its index in the list. A target that
   * was added before keeps its index.
   */
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
