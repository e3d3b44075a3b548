import { bufferWithRoom } from '../../memory/growable.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import { applyDelta, DeltaHeader } from '../pack/patch-delta.js';
import { UNDELTIFIED } from './object-table.js';
import type { StoredObjects } from './stored-objects.js';

/**
 * Minimum size in bytes of bodies that `visitBodies` skips. Inflating such a body without a yield would delay other
 * requests.
 */
const LARGE = 256 * 1024;
/** Maximum total size in bytes of the bodies of one delta chain that are in the arena (reused memory) at one time. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Alignment in bytes of bodies in the arena. It allows deltas to copy them word by word. */
const WORD = 8;

/**
 * Object that is still to be read. It is a delta on the body at offset `at` of the arena (reused memory), which is
 * `size` bytes long.
 */
interface Pending {
  readonly number: number;
  readonly at: number;
  readonly size: number;
}

/**
 * Calls `look` with the body of each object in `numbers`. `look` must not keep the body.
 *
 * The bodies come in the order of the delta chains, not of `numbers`. Each pack entry is therefore inflated only once,
 * however many bodies are built from it. Large bodies and those at the end of very long delta chains are skipped.
 * Yields between pieces of work, so that other requests can run.
 */
export function* visitBodies(
  stored: StoredObjects,
  numbers: Iterable<number>,
  look: (number: number, body: Buffer) => void,
): Steps<void> {
  const { roots, children, wanted } = yield* planVisit(stored, numbers);
  const delta = new DeltaHeader();
  let arena: Buffer = Buffer.alloc(0);
  const pending: Pending[] = [];
  const enter = (number: number, at: number, size: number): void => {
    if (wanted.has(number)) look(number, arena.subarray(at, at + size));
    for (const child of children.get(number) ?? []) pending.push({ number: child, at, size });
  };
  let unreported = 0;
  for (const root of roots) {
    // A body that was in memory when the plan was made may have been evicted since, while other requests ran. It is
    // then read again.
    const isWhole = stored.isUndeltifiedEntry(root);
    const body = stored.knownBody(root) ?? (isWhole ? bodyIn(stored.inflateEntry(root)) : stored.read(root));
    if (!children.has(root)) look(root, body);
    else {
      arena = bufferWithRoom(arena, body.length);
      body.copy(arena);
      enter(root, 0, body.length);
    }
    unreported += body.length * COST.byteCopied;
    // The delta that was added last is applied first (depth-first search). The memory after the body of its base is
    // therefore free.
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { number, at, size } = next;
      const result = (at + size + WORD - 1) & -WORD;
      if (result + stored.sizeOf(number) > MAX_BYTES) continue;
      const { output, size: deltaSize } = stored.inflateEntry(number);
      delta.parse(output, HEADROOM, HEADROOM + deltaSize);
      const { end, resultSize } = delta;
      arena = bufferWithRoom(arena, result + resultSize);
      const limit = HEADROOM + deltaSize;
      const places = { base: arena, baseAt: at, baseSize: size, result: arena, resultAt: result, resultSize };
      applyDelta({ delta: output, start: end, limit, ...places });
      enter(number, result, resultSize);
      unreported += resultSize * COST.byteCopied;
      if (unreported >= PIECE_COST) {
        yield unreported;
        unreported = 0;
      }
    }
    if (unreported >= PIECE_COST) {
      yield unreported;
      unreported = 0;
    }
  }
}

interface VisitPlan {
  /**
   * Object numbers of the first objects of the delta chains, in storage order. Their bodies are stored whole or are
   * already in memory.
   */
  readonly roots: readonly number[];
  /**
   * Numbers of the deltas on each object. Only deltas that are requested or lead to a requested object are included.
   */
  readonly children: ReadonlyMap<number, readonly number[]>;
  readonly wanted: ReadonlySet<number>;
}

function* planVisit(stored: StoredObjects, numbers: Iterable<number>): Steps<VisitPlan> {
  const wanted = new Set<number>();
  const planned = new Set<number>();
  const children = new Map<number, number[]>();
  const roots: number[] = [];
  let count = 0;
  for (const number of numbers) {
    const chain = chainOf(stored, number, planned);
    count += chain?.length ?? 1;
    if (count >= PIECE) {
      yield count * COST.operation;
      count = 0;
    }
    if (chain === undefined) continue;
    wanted.add(number);
    for (const at of chain) {
      planned.add(at);
      if (stored.baseOf(at) === UNDELTIFIED || stored.knownBody(at) !== undefined) roots.push(at);
      else {
        const others = children.get(stored.baseOf(at));
        if (others === undefined) children.set(stored.baseOf(at), [at]);
        else others.push(at);
      }
    }
  }
  roots.sort(
    (a, b) => stored.segmentOfObject(a) - stored.segmentOfObject(b) || stored.offsetOf(a) - stored.offsetOf(b),
  );
  return { roots, children, wanted };
}

/**
 * Returns a delta chain as object numbers: the object, its delta base, the base of this base, and so on. The chain ends
 * before an object that is already planned, or at an object that is in memory or not a delta. Returns undefined if one
 * of the objects is large.
 */
function chainOf(stored: StoredObjects, number: number, planned: ReadonlySet<number>): number[] | undefined {
  const chain: number[] = [];
  for (let at = number; !planned.has(at); at = stored.baseOf(at)) {
    if (stored.sizeOf(at) >= LARGE) return undefined;
    chain.push(at);
    if (stored.baseOf(at) === UNDELTIFIED || stored.knownBody(at) !== undefined) break;
  }
  return chain;
}

function bodyIn({ output, size }: { readonly output: Buffer; readonly size: number }): Buffer {
  return output.subarray(HEADROOM, HEADROOM + size);
}
