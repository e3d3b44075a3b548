import { bufferWithRoom } from '../../memory/growable.js';
import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { HEADROOM } from '../object/object-hash.js';
import { applyDelta, DeltaHeader } from '../pack/patch-delta.js';
import { UNDELTIFIED } from './object-table.js';
import type { StoredObjects } from './stored-objects.js';

/** Bodies from this size on are left to readers that can wait inside one. */
const LARGE = 256 * 1024;
/** Bytes of the bodies of one chain, each made of the one before. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Bodies begin where they can be read by words. */
const WORD = 8;

/** A delta to be applied to the body at `at` of the arena. */
interface Pending {
  readonly number: number;
  readonly at: number;
  readonly size: number;
}

/**
 * Hands the bodies of objects to `look`, which may not keep them. It goes by the deltas, not by the order of `numbers`:
 * each entry is inflated once, whichever of the bodies are made of it. Large bodies, and those at the end of very long
 * chains, are left out. In steps.
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
    // What was at hand may have been let go while others were served.
    const isWhole = stored.isUndeltifiedEntry(root);
    const body = stored.knownBody(root) ?? (isWhole ? bodyIn(stored.inflateEntry(root)) : stored.read(root));
    if (!children.has(root)) look(root, body);
    else {
      arena = bufferWithRoom(arena, body.length);
      body.copy(arena);
      enter(root, 0, body.length);
    }
    unreported += body.length * COST.byteCopied;
    // The last that was added goes first: above the body that a delta is for, nothing is needed any more.
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { number, at, size } = next;
      const result = (at + size + WORD - 1) & -WORD;
      if (result + stored.sizeOf(number) > MOST_BYTES) continue;
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
  /** Where chains begin: bodies that are whole or at hand, in the order in which they lie. */
  readonly roots: readonly number[];
  /** By object, the wanted deltas on it and those that lead to them. */
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

/** The object and what it is made of, as far as that is not planned yet; undefined if one of them is large. */
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
