import { NONE } from '../object/tree-cursor.js';
import type { PreviousVersions } from '../pack-objects/delta-choice.js';
import type { HistoryIndex } from './history-index.js';
import { NumberSet } from './number-set.js';

/** What a fetch has to send, and what helps to send it in few bytes. Everything by object number. */
export class SendPlan {
  #held: NumberSet | undefined;

  constructor(
    /** Ascending: the order of the packs the objects came in, so that a writer can copy long runs as they are. */
    readonly objects: Int32Array,
    private readonly index: HistoryIndex,
    /** Commits to be sent together with all their first parent has. */
    private readonly positions: Int32Array,
    /** Trees and blobs the client has, when they were looked for. */
    private readonly known: NumberSet,
    /** Whether the client may lack objects of commits it has. */
    private readonly isPartial: boolean,
  ) {}

  /**
   * For trees and blobs to send, the object that was at their path before: the best delta bases there are.
   * Each is sent too, or held by the client (`isHeld`). Two objects may name each other. Made anew by each call.
   */
  previousVersions(): PreviousVersions {
    const sent = this.#sent();
    /** By object the number of its previous version plus 1; 0 if none. */
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

  /** Whether the client certainly has the object: a base for thin deltas. It may have more. */
  isHeld(object: number): boolean {
    this.#held ??= this.#findHeld();
    return object < this.#held.bound && this.#held.has(object);
  }

  /** Whatever a commit replaced is in its first parent, which is either sent or held. */
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
