/**
 * Checks the order of a tree's entries: by name, with a folder's name as if it ended with `/`, and without duplicates.
 *
 * Because of that slash, two entries with the same name may be apart (`foo`, `foo.bar`, `foo/`). Files that a later
 * folder could repeat are on a stack, where a file stays while the following entries begin with its name.
 */
export class EntryOrder {
  readonly #waiting: { start: number; end: number }[] = [];
  #start = 0;
  #end = -1;
  #isTree = false;
  /** True if a name begins with the previous one, so that a later entry may repeat either. */
  isFarReaching = false;

  constructor(private readonly body: Buffer) {}

  /** Adds the next entry. Returns the rule that it breaks; undefined if none. */
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

  /** Returns true if a file with the same name is on the stack. Removes files that no later entry can repeat. */
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
