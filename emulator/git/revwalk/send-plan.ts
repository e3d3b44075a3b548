import { NONE } from '../object/tree-cursor.js';
import type { PreviousVersions } from '../pack-objects/delta-choice.js';
import type { HistoryIndex } from './history-index.js';
import { NumberSet } from './number-set.js';

/**
 * Objects that a fetch must send, as object numbers (indexes into the tables of the object store). It also provides
 * previous versions of these objects, because deltas on them make the pack small.
 */
export class SendPlan {
  #held: NumberSet | undefined;

  constructor(
    /**
     * Numbers of the objects to send, in ascending order. Stored packs have this order too, so long runs of objects can
     * be copied from them unchanged.
     */
    readonly objects: Int32Array,
    private readonly index: HistoryIndex,
    /**
     * Positions of the commits that are sent with the objects they introduced. All other objects of their first parents
     * are sent too, or the client has them.
     */
    private readonly positions: Int32Array,
    /** Trees and blobs that the client is known to have. The client may have further ones. */
    private readonly known: NumberSet,
    /** True if the client is a partial clone. It may then lack objects of commits that it has. */
    private readonly isPartial: boolean,
  ) {}

  /**
   * Returns a function that maps a tree or blob to its previous version, which is the object that was at its path
   * before. The previous version is usually the best delta base. It is sent too, or the client has it (`isHeld`).
   *
   * Two objects may be previous versions of each other, so a caller must avoid cycles of deltas. Each call of this
   * method computes the result again.
   */
  previousVersions(): PreviousVersions {
    const sent = this.#sent();
    /**
     * Previous version of each object, by object number. The value is the object number of the previous version plus 1;
     * 0 if none.
     */
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
   * Returns true if the client is known to have the object. A thin pack can then contain deltas on it. If the result is
   * false, the client may still have the object.
   */
  isHeld(object: number): boolean {
    this.#held ??= this.#findHeld();
    return object < this.#held.bound && this.#held.has(object);
  }

  /**
   * Returns the objects that the client is known to have. If a sent commit replaced an object, the object is in the
   * first parent of the commit. The client therefore has it, or it is sent too.
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
