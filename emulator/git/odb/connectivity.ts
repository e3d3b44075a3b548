import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { BLOB, MissingObject, type Oid, oidIn, TREE, typeName } from '../object/object.js';
import { OID_BYTES } from '../object/oid-slots.js';
import { ANY, type EdgeType, isEmptyTree, type OnEdge, readEdges } from './edge-list.js';
import type { ObjectWriter } from './object-writer.js';

/**
 * Decides whether everything reachable from a tip is there, with the types its edges say.
 *
 * Objects found connected before are marked complete and not looked into again. New objects are all
 * complete when the target of each of their edges was found, which needs no walk. Only otherwise the tips are walked,
 * and what such a walk learns, good or bad, is kept: many tips on one broken history cost one walk.
 */
export class Connectivity {
  /** Objects from which something missing is reachable, as known when the store had `#knownAt` objects. */
  readonly #broken = new Map<number, MissingObject>();
  #knownAt = -1;
  #areAllFound = false;
  /** What each edge leads to. */
  #numbers = new Int32Array(0);
  /** How many edges have their target marked as referenced; and targets among them that were published before. */
  #marked = 0;
  readonly #oldTargets: number[] = [];
  /** Objects that were published before and are found complete now: the new ones may be discarded. */
  readonly #oldComplete = new Set<number>();

  constructor(
    private readonly writer: ObjectWriter,
    private readonly base: number,
  ) {}

  /** The tips that lead to something missing, and to what. */
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

  /** What is missing of the new objects, whether a tip leads to it or not; undefined when they are whole. */
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

  /** Whether the edges alone tell that all new objects are complete; found out again when there are more of them. */
  *#followEdges(): Steps<boolean> {
    const { objects } = this.writer;
    if (this.#knownAt !== objects.count) {
      this.#broken.clear();
      this.#knownAt = objects.count;
      this.#areAllFound = yield* this.#areEdgesFound();
      if (this.#areAllFound) {
        objects.completeSince.fill(this.base + 1, this.base - objects.first, objects.count - objects.first);
        yield* this.writer.settleLinks(this.base, this.#numbers);
      }
    }
    return this.#areAllFound;
  }

  /** Marks what the new objects point at, now that they are to stay. */
  publish(): void {
    const { objects, edges } = this.writer;
    // After a check, which goes in slices, nothing is left to be looked for.
    for (let index = this.#marked; index < edges.size; index++) {
      this.#mark(index, this.writer.find(edges.oids, edges.startOf(index)));
    }
    const since = this.#since;
    for (const number of this.#oldTargets) objects.setReferenced(number, since);
    for (const number of this.#oldComplete) objects.setComplete(number, since);
  }

  /** Objects that were here before are marked only by `publish`: the new ones may be discarded. */
  #mark(index: number, target: number): void {
    if (index === this.#marked) this.#marked++;
    const { objects } = this.writer;
    if (target >= this.base) objects.setReferenced(target, this.#since);
    else if (target >= 0 && !objects.isReferenced(target)) this.#oldTargets.push(target);
  }

  /** How many objects there have to be for what is found out now to be true. Without new ones it is true already. */
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

  /** Whether every edge of the new objects leads to a new object or to a complete one. */
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
   * Depth first with a stack of its own: `~number` on it means "left", so that the objects entered and
   * not left are the path from the tip, and all of them are broken when something is missing.
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
    // Reading the blobs would be most of the work, and they point at nothing.
    if (type === BLOB) return;
    const isRead = yield* readEdges(type, yield* objects.readSteps(number), push);
    if (!isRead) throw new MissingObject(objects.oidOf(number), typeName(type));
  }

  /** The number to walk on from, or -1 when there is nothing to look into. Throws `MissingObject`. */
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
   * Git knows the empty tree without storing it, so a sender may leave it out. Here it is stored where something
   * needs it, once: whatever is named by a ref or an object is then an object like any other. Returns its number.
   */
  #storeEmptyTree(): number {
    const { objects } = this.writer;
    this.writer.write(TREE, Buffer.alloc(0));
    const number = objects.count - 1;
    this.#setComplete(number);
    // It points at nothing, so what is known of the others stays known.
    if (this.#knownAt === number) this.#knownAt++;
    return number;
  }
}

function isOfType(type: number, wanted: EdgeType): boolean {
  return wanted === ANY || type === wanted;
}
