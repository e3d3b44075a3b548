import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { BLOB, MissingObject, type Oid, oidIn, TREE, typeName } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';
import { ANY, type EdgeType, isEmptyTree, type OnEdge, readEdges } from './edge-list.js';
import type { ObjectWriter } from './object-writer.js';

/**
 * Checks that everything reachable from a tip is present, with the types that its edges require.
 *
 * Objects found connected before are marked complete and not read again. If the target of every edge of the new objects
 * is present and complete, all new objects are complete, and no walk is needed. Otherwise the tips are walked. The
 * result of a walk, complete or broken, is kept, so many tips on one broken history cost one walk.
 */
export class Connectivity {
  /** Objects from which a missing object is reachable. Valid while the store has `#knownAt` objects. */
  readonly #broken = new Map<number, MissingObject>();
  #knownAt = -1;
  #areAllFound = false;
  /** Object number of the target of each edge; -1 if missing. */
  #numbers = new Int32Array(0);
  /** Number of edges whose target is marked as referenced, and those targets that were published before. */
  #marked = 0;
  readonly #oldTargets: number[] = [];
  /**
   * Published objects that were found complete now. They are marked only by `publish`, because the new objects may be
   * discarded.
   */
  readonly #oldComplete = new Set<number>();

  constructor(
    private readonly writer: ObjectWriter,
    private readonly base: number,
  ) {}

  /** Returns the tips that lead to a missing object, each with the error that names that object. */
  *failures(tips: Iterable<Oid>): Steps<Map<Oid, MissingObject>> {
    yield* this.#followEdges();
    const failures = new Map<Oid, MissingObject>();
    for (const tip of tips) {
      try {
        const number = this.#resolve(Buffer.from(tip, 'hex'), 0, ANY);
        if (number >= 0) yield* this.#walk(number);
      } catch (error) {
        if (!(error instanceof MissingObject)) throw error;
        failures.set(tip, error);
      }
      yield COST.operation;
    }
    return failures;
  }

  /**
   * Returns the first missing object that a new object leads to, whether or not a tip leads to it; undefined if the new
   * objects are complete.
   */
  *firstMissing(): Steps<MissingObject | undefined> {
    if (yield* this.#followEdges()) return undefined;
    try {
      for (let number = this.base; number < this.#knownAt; number++) {
        yield* this.#walk(number);
        if ((number & 63) === 63) yield COST.operation;
      }
      return undefined;
    } catch (error) {
      if (error instanceof MissingObject) return error;
      throw error;
    }
  }

  /** Returns true if the edges alone show that all new objects are complete. Computed again when objects were added. */
  *#followEdges(): Steps<boolean> {
    const { objects } = this.writer;
    if (this.#knownAt !== objects.count) {
      this.#broken.clear();
      this.#knownAt = objects.count;
      this.#areAllFound = yield* this.#areEdgesFound();
      if (this.#areAllFound) {
        objects.completeSince.fill(this.base + 1, this.base - objects.firstNumber, objects.count - objects.firstNumber);
        yield* this.writer.settleLinks(this.base, this.#numbers);
      }
    }
    return this.#areAllFound;
  }

  /** Marks the targets of the new objects as referenced, because the new objects are now published. */
  publish(): void {
    const { objects, edges } = this.writer;
    // After a check, which runs in time slices, all edges have been marked already.
    for (let index = this.#marked; index < edges.size; index++) {
      this.#mark(index, this.writer.find(edges.oids, edges.startOf(index)));
    }
    const since = this.#since;
    for (const number of this.#oldTargets) objects.setReferenced(number, since);
    for (const number of this.#oldComplete) objects.setComplete(number, since);
  }

  /**
   * Marks a target as referenced. Objects published before are marked only by `publish`, because the new objects may be
   * discarded.
   */
  #mark(index: number, target: number): void {
    if (index === this.#marked) this.#marked++;
    const { objects } = this.writer;
    if (target >= this.base) objects.setReferenced(target, this.#since);
    else if (target >= 0 && !objects.isReferenced(target)) this.#oldTargets.push(target);
  }

  /** Object count from which on the results of this check hold. If there are no new objects, they hold already. */
  get #since(): number {
    return this.writer.objects.count === this.base ? this.base : this.base + 1;
  }

  #isComplete(number: number): boolean {
    return this.writer.objects.isComplete(number) || this.#oldComplete.has(number);
  }

  #setComplete(number: number): void {
    if (number < this.base) this.#oldComplete.add(number);
    else this.writer.objects.setComplete(number, this.#since);
  }

  /** Returns true if every edge of the new objects leads to a new object or to a complete one. */
  *#areEdgesFound(): Steps<boolean> {
    const { objects, edges } = this.writer;
    this.#numbers = new Int32Array(edges.size);
    for (let index = 0; index < edges.size && !edges.isDoubtful; index++) {
      let number = this.writer.find(edges.oids, edges.startOf(index));
      if (number < 0 && edges.isEmptyTree(index)) number = this.#storeEmptyTree();
      this.#mark(index, number);
      this.#numbers[index] = number;
      const isFound = number >= this.base || (number >= 0 && this.#isComplete(number));
      if (!isFound || !isOfType(objects.typeOf(number), edges.typeOf(index))) edges.isDoubtful = true;
      if ((index & 255) === 255) yield COST.operation;
    }
    return !edges.isDoubtful;
  }

  /**
   * Depth-first search with an explicit stack. `~number` on the stack means that `number` is left at that point. The
   * objects that were entered and not left are the path from the tip, so all of them are broken if an object is
   * missing.
   */
  *#walk(tip: number): Steps<void> {
    const entered = new Set<number>();
    const stack = [tip];
    const push = (bytes: Uint8Array, at: number, type: EdgeType): void => {
      const number = this.#resolve(bytes, at, type);
      if (number >= 0 && !entered.has(number)) stack.push(number);
    };
    try {
      for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
        if (top < 0) {
          this.#setComplete(~top);
          entered.delete(~top);
          continue;
        }
        if (this.#isComplete(top)) continue;
        entered.add(top);
        stack.push(~top);
        yield* this.#readEdgesOf(top, push);
        yield COST.operation;
      }
    } catch (error) {
      if (error instanceof MissingObject) for (const number of entered) this.#broken.set(number, error);
      throw error;
    }
  }

  *#readEdgesOf(number: number, push: OnEdge): Steps<void> {
    const { objects } = this.writer;
    const type = objects.typeOf(number);
    // Skips blobs, because they have no edges and reading them would be most of the work.
    if (type === BLOB) return;
    const isRead = yield* readEdges(type, yield* objects.readSteps(number), push);
    if (!isRead) throw new MissingObject(objects.oidOf(number), typeName(type));
  }

  /** Returns the object number to continue the walk at, or -1 if the object is complete. Throws `MissingObject`. */
  #resolve(bytes: Uint8Array, at: number, type: EdgeType): number {
    const { objects } = this.writer;
    let number = this.writer.find(bytes, at);
    if (number < 0 && isEmptyTree(bytes, at)) number = this.#storeEmptyTree();
    if (number >= 0 && isOfType(objects.typeOf(number), type)) {
      const broken = this.#broken.get(number);
      if (broken !== undefined) throw broken;
      return this.#isComplete(number) ? -1 : number;
    }
    const oid = oidIn(Buffer.from(bytes.subarray(at, at + OID_BYTES)));
    throw new MissingObject(oid, type === ANY ? 'object' : typeName(type));
  }

  /**
   * Stores the empty tree and returns its number. Git can read the empty tree without storing it, so a sender may omit
   * it. It is stored when a ref or an object needs it, so that every named object exists.
   */
  #storeEmptyTree(): number {
    const { objects } = this.writer;
    this.writer.write(TREE, Buffer.alloc(0));
    const number = objects.count - 1;
    this.#setComplete(number);
    // The empty tree has no edges, so the results of the check remain valid.
    if (this.#knownAt === number) this.#knownAt++;
    return number;
  }
}

function isOfType(type: number, wanted: EdgeType): boolean {
  return wanted === ANY || type === wanted;
}
