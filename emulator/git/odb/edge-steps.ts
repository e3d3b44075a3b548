import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { COMMIT, TREE, type TypeCode } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';
import type { EdgeList } from './edge-list.js';

/** Bytes of `tree <40 digits> LF` and of `parent <40 digits> LF`. */
const TREE_LINE = 46;
const PARENT_LINE = 48;
const PARENT_WORD = 'parent ';
/** Parents recorded in one piece. */
const PARENTS = 512;
/** Bytes of a tree whose edges are recorded in one piece. */
const PIECE = 16 * 1024;

/** `edges.record` of a large object, in steps: a tree by runs of whole entries. */
export function* edgeSteps(
  edges: EdgeList,
  type: TypeCode,
  body: Buffer,
  start: number,
  end: number,
  mostTargets: number,
): Steps<void> {
  if (type === COMMIT) return yield* commitEdgeSteps(edges, body, start, end, mostTargets);
  if (type !== TREE) return edges.record(type, body, start, end, mostTargets);
  for (let at = start; at < end; ) {
    const next = endOfEntries(body, at, end);
    edges.record(TREE, body, at, next, mostTargets);
    yield (next - at) * COST.byteScanned;
    at = next;
  }
}

/** A commit with very many parents: its tree, and as many parents at a time as make a short commit. */
function* commitEdgeSteps(edges: EdgeList, body: Buffer, start: number, end: number, mostTargets: number): Steps<void> {
  const first = start + TREE_LINE;
  for (let at = first; at === first || isParentLine(body, at, end); at += PARENTS * PARENT_LINE) {
    const part = Buffer.concat([
      body.subarray(start, first),
      body.subarray(at, Math.min(end, at + PARENTS * PARENT_LINE)),
    ]);
    edges.record(COMMIT, part, 0, part.length, mostTargets);
    yield PARENTS * COST.line;
  }
}

function isParentLine(body: Buffer, at: number, end: number): boolean {
  return at + PARENT_LINE <= end && body.toString('latin1', at, at + PARENT_WORD.length) === PARENT_WORD;
}

/** Where the first entry ends that reaches past a piece: each is a mode, a name, a NUL and an id. A broken one is the last. */
function endOfEntries(body: Buffer, start: number, end: number): number {
  for (let at = start; ; ) {
    const nul = body.indexOf(0, at);
    if (nul < 0 || nul + 1 + OID_BYTES >= end) return end;
    at = nul + 1 + OID_BYTES;
    if (at - start >= PIECE) return at;
  }
}
