import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { BLOB, MissingObject, type Oid, oidIn, TREE, typeName } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';
import { ANY, type EdgeType, isEmptyTree, type OnEdge, readEdges } from './edge-list.js';
import type { ObjectWriter } from './object-writer.js';

/**
 * Connectivity check of a push. A tip is an object that a ref will name. The check makes sure that all objects
 * reachable from each tip are present. It also checks that each object has the type that the object referring to it
 * requires.
 *
 * The new objects are those with a number of at least `base`. They may still be discarded. An edge is a reference from
 * one object to another. An object is complete if everything reachable from it is present. Complete objects are marked
 * and not read again.
 *
 * Often no walk over the history is needed: if every edge of the new objects leads to a new or complete object, all new
 * objects are complete. Otherwise the check walks from each tip. The result of each walk is kept, so many tips on one
 * broken history cost only one walk.
 */
export class Connectivity {
  /**
   * Missing objects. The key is the number of an object from which a walk reached the missing object. The map is valid
   * only while the store has `#knownAt` objects.
   */
  readonly #broken = new Map<number, MissingObject>();
  #knownAt = -1;
  #areAllFound = false;
  /**
   * Object number of the target of each edge in `writer.edges`, by the index of the edge. It is -1 if the target is
   * missing.
   */
  #numbers = new Int32Array(0);
  /**
   * `#marked` is the number of edges whose targets `#mark` has processed. `#oldTargets` contains the object numbers of
   * those targets that had been published before this push.
   */
  #marked = 0;
  readonly #oldTargets: number[] = [];
  /**
   * Numbers of already published objects that this check found complete. They are marked in the store only by
   * `publish`, because the new objects may be discarded.
   */
  readonly #oldComplete = new Set<number>();

  constructor(
    private readonly writer: ObjectWriter,
    private readonly base: number,
  ) {}

  /** Returns the tips from which a missing object is reachable. The error of each tip names the missing object. */
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
   * Returns the error for the first missing object that is reachable from a new object; undefined if all new objects
   * are complete. New objects that no ref will name are checked too.
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

  /**
   * Returns true if the list of edges alone shows that all new objects are complete. No object is read. The result is
   * kept until objects are added.
   */
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

  /** Marks each object that a new object refers to as referenced. Called when the new objects are published. */
  publish(): void {
    const { objects, edges } = this.writer;
    // This loop usually has nothing left to do, so publishing is fast. `failures` and `firstMissing` mark the edges in
    // time slices, and usually one of them has run before.
    for (let index = this.#marked; index < edges.size; index++) {
      this.#mark(index, this.writer.find(edges.oids, edges.startOf(index)));
    }
    const since = this.#since;
    for (const number of this.#oldTargets) objects.setReferenced(number, since);
    for (const number of this.#oldComplete) objects.setComplete(number, since);
  }

  /**
   * Marks the target of the edge `index` as referenced (some object refers to it). Targets that were published earlier
   * are only collected; `publish` marks them, because the new objects may be discarded.
   */
  #mark(index: number, target: number): void {
    if (index === this.#marked) this.#marked++;
    const { objects } = this.writer;
    if (target >= this.base) objects.setReferenced(target, this.#since);
    else if (target >= 0 && !objects.isReferenced(target)) this.#oldTargets.push(target);
  }

  /**
   * Number of objects that the store must contain for the marks of this check to be valid. If there are new objects,
   * the number includes the first of them. The marks then have no effect if the new objects are discarded.
   */
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

  /**
   * Returns true if every edge of the new objects leads to a new or complete object of the type that the edge requires.
   */
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
   * Reads everything reachable from `tip` and marks it as complete. Throws `MissingObject` if an object is missing.
   *
   * This is a depth-first search with an explicit stack. A negative stack element `~number` means: when it is removed,
   * everything reachable from `number` has been read. `entered` contains the objects on the path from the tip to the
   * current object. If an object is missing, all of them are marked as broken.
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
    // Blobs have no edges and are not read. Reading them would be most of the work of the walk.
    if (type === BLOB) return;
    const isRead = yield* readEdges(type, yield* objects.readSteps(number), push);
    if (!isRead) throw new MissingObject(objects.oidOf(number), typeName(type));
  }

  /**
   * Finds the object whose 20-byte id is at offset `at` of `bytes`. Returns its number if the walk must read it.
   * Returns -1 if it is complete (everything reachable from it is present). Throws `MissingObject` if it is absent, has
   * another type, or is known to lead to a missing object.
   */
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
   * Stores the empty tree and returns its object number. Called when a ref or an object names the empty tree, because
   * readers of the store expect every named object to exist. A client may omit it from a push, because Git can read the
   * empty tree without storing it.
   */
  #storeEmptyTree(): number {
    const { objects } = this.writer;
    this.writer.write(TREE, Buffer.alloc(0));
    const number = objects.count - 1;
    this.#setComplete(number);
    // The empty tree has no edges, so adding it does not invalidate the results for the other objects.
    if (this.#knownAt === number) this.#knownAt++;
    return number;
  }
}

function isOfType(type: number, wanted: EdgeType): boolean {
  return wanted === ANY || type === wanted;
}
