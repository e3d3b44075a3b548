import { bufferWithRoom } from '../../memory/growable.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import { applyDelta, DeltaHeader } from '../pack/patch-delta.js';
import { UNDELTIFIED } from './object-table.js';
import type { StoredObjects } from './stored-objects.js';

/** Bodies of at least this size in bytes are skipped, because they need a reader that can yield within one body. */
const LARGE = 256 * 1024;
/** Maximum bytes of the bodies of one delta chain in the arena. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Alignment of bodies in bytes, so that they can be read by words. */
const WORD = 8;

/** A delta to be applied to the body at `at` of the arena. */
interface Pending {
  readonly number: number;
  readonly at: number;
  readonly size: number;
}

/**
 * Calls `look` with the bodies of objects. `look` must not keep them. Visits objects in the order of their deltas, not
 * of `numbers`, so that each entry is inflated once, however many bodies are built from it. Skips large bodies, and
 * those at the end of very long chains. Yields while it works.
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
    // A body that was in memory may have been evicted while other requests were served.
    const isWhole = stored.isUndeltifiedEntry(root);
    const body = stored.knownBody(root) ?? (isWhole ? bodyIn(stored.inflateEntry(root)) : stored.read(root));
    if (!children.has(root)) look(root, body);
    else {
      arena = bufferWithRoom(arena, body.length);
      body.copy(arena);
      enter(root, 0, body.length);
    }
    unreported += body.length * COST.byteCopied;
    // Takes the last delta first (depth-first), so the memory after the body of its base is free.
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
  /** First objects of chains, in storage order: bodies that are complete or in memory. */
  readonly roots: readonly number[];
  /** Deltas on each object that are wanted or lead to a wanted object. */
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

/** Returns the object and its delta bases that are not planned yet; undefined if one of them is large. */
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
