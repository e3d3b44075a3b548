/**
 * Checks the order of the entries in a tree object. They must be sorted by name, and no name may occur twice. A
 * folder's name counts as if it ended with `/`.
 *
 * Because of this slash, other entries may lie between two entries with one name (`foo`, `foo.bar`, `foo/`). A stack
 * therefore holds the files whose name a later folder could repeat. A file stays on the stack while the names of the
 * following entries begin with its name.
 */
export class EntryOrder {
  readonly #waiting: { start: number; end: number }[] = [];
  #start = 0;
  #end = -1;
  #isTree = false;
  /**
   * True if two adjacent names were found of which one begins with the other. A later entry may then repeat the shorter
   * name.
   */
  isFarReaching = false;

  constructor(private readonly body: Buffer) {}

  /**
   * Checks the next entry, whose name extends from `start` to `end` (exclusive). Returns the rule that the entry
   * breaks; undefined if none.
   */
  follow(start: number, end: number, isTree: boolean): 'treeNotSorted' | 'duplicateEntries' | undefined {
    const issue = this.#end < 0 ? undefined : this.#compare(start, end, isTree);
    this.#start = start;
    this.#end = end;
    this.#isTree = isTree;
    return issue;
  }

  #compare(start: number, end: number, isTree: boolean): 'treeNotSorted' | 'duplicateEntries' | undefined {
    const { body } = this;
    const before = this.#end - this.#start;
    const after = end - start;
    const common = Math.min(before, after);
    for (let index = 0; index < common; index++) {
      const difference = body[this.#start + index]! - body[start + index]!;
      if (difference !== 0) return difference < 0 ? undefined : 'treeNotSorted';
    }
    if (before === after) return 'duplicateEntries';
    const left = before > common ? body[this.#start + common]! : this.#isTree ? 0x2f : 0;
    const right = after > common ? body[start + common]! : isTree ? 0x2f : 0;
    if (left === 0 && isBelowSlash(right)) {
      this.isFarReaching = true;
      this.#waiting.push({ start: this.#start, end: this.#end });
    } else if (right === 0x2f && isBelowSlash(left)) {
      this.isFarReaching = true;
      if (this.#isWaiting(start, end)) return 'duplicateEntries';
    }
    return left < right ? undefined : 'treeNotSorted';
  }

  /**
   * Returns true if a file on the stack has the name from `start` to `end` (exclusive). Files whose name no later entry
   * can repeat are removed from the stack.
   */
  #isWaiting(start: number, end: number): boolean {
    for (let file = this.#waiting.pop(); file !== undefined; file = this.#waiting.pop()) {
      const length = file.end - file.start;
      if (length > end - start || this.body.compare(this.body, start, start + length, file.start, file.end) !== 0)
        continue;
      if (length === end - start) return true;
      if (isBelowSlash(this.body[start + length]!)) {
        this.#waiting.push(file);
        return false;
      }
    }
    return false;
  }
}

function isBelowSlash(byte: number): boolean {
  return byte > 0 && byte < 0x2f;
}
