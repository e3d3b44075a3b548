import { NONE } from '../object/tree-cursor.js';
import type { PreviousVersions } from '../pack-objects/delta-choice.js';
import type { HistoryIndex } from './history-index.js';
import { NumberSet } from './number-set.js';

/**
 * Objects that a fetch must send, with information about previous versions that helps to write a small pack. Objects
 * are given by number (index into the tables of the object store).
 */
export class SendPlan {
  #held: NumberSet | undefined;

  constructor(
    /**
     * Numbers of the objects to send, ascending. This is the order of the stored packs, so that long runs of objects
     * can be copied from them unchanged.
     */
    readonly objects: Int32Array,
    private readonly index: HistoryIndex,
    /**
     * Positions of the commits that are sent with the objects they introduced. All other objects of their first parents
     * are either sent too, or the client has them.
     */
    private readonly positions: Int32Array,
    /** Trees and blobs that the client has, as far as this was determined. */
    private readonly known: NumberSet,
    /** True for a partial clone: the client may lack objects of the commits that it has. */
    private readonly isPartial: boolean,
  ) {}

  /**
   * Returns a function that gives the previous version of each tree and blob to send: the object that was at the same
   * path before, which is the best delta base. The previous version is either sent too, or the client has it
   * (`isHeld`). Two objects may be the previous versions of each other. Each call computes the result anew.
   */
  previousVersions(): PreviousVersions {
    const sent = this.#sent();
    /** Previous version of each object, by object number: number of the previous version plus 1; 0 if none. */
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
   * Returns true if the client certainly has the object, so that a thin pack can contain deltas to it. The client may
   * have more objects.
   */
  isHeld(object: number): boolean {
    this.#held ??= this.#findHeld();
    return object < this.#held.bound && this.#held.has(object);
  }

  /**
   * Finds the objects that the client has. An object that a sent commit replaced is in the commit's first parent, so
   * the client has this object unless it is sent too.
   */
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
