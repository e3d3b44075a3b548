import { canonicalMode } from './tree.js';
import { TreeCursor } from './tree-cursor.js';

/**
 * Two versions of a folder in lock step, in Git's order of tree entries. Entries that are the same, byte for byte, in
 * both are passed over; of those that follow each other so nothing is read.
 */
export class TreePair {
  readonly before: TreeCursor;
  readonly after: TreeCursor;
  /** Below 0: only `before` stands at the entry, above: only `after`. 0: both, of which both are trees or neither is. */
  order = 0;
  #hasBefore = true;
  #hasAfter = true;

  /** With `withEqual` nothing is passed over. */
  constructor(
    before: Buffer,
    after: Buffer,
    readonly withEqual = false,
  ) {
    this.before = new TreeCursor(before);
    this.after = new TreeCursor(after);
  }

  /** Goes to the next entry; false at the end. Throws `MalformedObject`. */
  next(): boolean {
    const { before, after, order } = this;
    if (order === 0 && !this.withEqual) TreeCursor.skipEqual(before, after);
    if (order <= 0) this.#hasBefore = before.next();
    if (order >= 0) this.#hasAfter = after.next();
    if (this.#hasBefore) this.order = this.#hasAfter ? TreeCursor.order(before, after) : -1;
    else this.order = 1;
    return this.#hasBefore || this.#hasAfter;
  }

  /** Whether both have the same at the entry: modes may be stored in two ways. */
  get isSame(): boolean {
    const { before, after, order } = this;
    return (
      order === 0 && TreeCursor.isSameId(before, after) && canonicalMode(before.mode) === canonicalMode(after.mode)
    );
  }
}
