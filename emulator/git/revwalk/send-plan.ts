import { NONE } from '../object/tree-cursor.js';
import type { PreviousVersions } from '../pack-objects/delta-choice.js';
import type { HistoryIndex } from './history-index.js';
import { NumberSet } from './number-set.js';

/** Objects that a fetch must send, with information that helps to write a small pack. Objects are given by number. */
export class SendPlan {
  #held: NumberSet | undefined;

  constructor(
    /**
     * Object numbers, ascending. This is the order of the stored packs, so that a writer can copy long runs unchanged.
     */
    readonly objects: Int32Array,
    private readonly index: HistoryIndex,
    /** Positions of commits that are sent; everything in their first parents is sent too, or held by the client. */
    private readonly positions: Int32Array,
    /** Trees and blobs that the client has, as far as they were determined. */
    private readonly known: NumberSet,
    /** True if the client may lack objects of commits that it has. */
    private readonly isPartial: boolean,
  ) {}

  /**
   * Returns the previous version of each tree and blob to send, that is, the object that was at its path before: the
   * best delta base. Each is sent too or held by the client (`isHeld`). Two objects may refer to each other. Computed
   * anew by each call.
   */
  previousVersions(): PreviousVersions {
    const sent = this.#sent();
    /** By object number: number of its previous version plus 1; 0 if none. */
    const versions = new Int32Array(sent.bound);
    for (const position of this.positions) {
      const pairs = this.index.objectsOf(position);
      for (let at = 0; at < pairs.length; at += 2) {
        const object = pairs[at]!;
        const previous = pairs[at + 1]!;
        if (previous === NONE || !sent.has(object)) continue;
        if (sent.has(previous) || this.isHeld(previous)) versions[object] = previous + 1;
      }
    }
    return (object) => versions[object]! - 1;
  }

  /**
   * Returns true if the client certainly has the object, so that it can be the base of a thin delta. The client may
   * have more objects.
   */
  isHeld(object: number): boolean {
    this.#held ??= this.#findHeld();
    return object < this.#held.bound && this.#held.has(object);
  }

  /** Finds the held objects. An object that a commit replaced is in its first parent, which is either sent or held. */
  #findHeld(): NumberSet {
    const held = new NumberSet(this.known.bound);
    if (this.isPartial) return held;
    for (const position of this.positions) {
      const pairs = this.index.objectsOf(position);
      for (let at = 1; at < pairs.length; at += 2) {
        if (pairs[at] !== NONE) held.add(pairs[at]!);
      }
    }
    held.addAll(this.known);
    held.deleteAll(this.#sent());
    return held;
  }

  #sent(): NumberSet {
    const sent = new NumberSet(this.known.bound);
    for (const object of this.objects) sent.add(object);
    return sent;
  }
}
