/** List of at most `most` rows, which are numbered in order of arrival. If it is full, the oldest rows are dropped. */
export class RowList<T> {
  private rows: T[] = [];
  /** Number of the oldest row in the list; negative if older rows were added before row 0. */
  first = 0;
  /** Number of rows that were dropped because the list was full, since it was last cleared. */
  letGo = 0;
  /** True if `clear` was called. */
  isCleared = false;

  constructor(private readonly most: number) {}

  /** Number that the next row will have. */
  get total(): number {
    return this.first + this.rows.length;
  }

  add(row: T): void {
    this.rows.push(row);
    if (this.rows.length <= this.most) return;
    this.rows.shift();
    this.first += 1;
    this.letGo += 1;
  }

  /** Adds a row that is older than all others. Returns false, and adds nothing, if the list is full or was cleared. */
  addOlder(row: T): boolean {
    if (this.isCleared || this.rows.length >= this.most) return false;
    this.rows.unshift(row);
    this.first -= 1;
    return true;
  }

  /** Returns the row with this number; undefined if the row was dropped or has not arrived. */
  get(number: number): T | undefined {
    return this.rows[number - this.first];
  }

  /** Returns the newest rows, at most `most`, the newest first. */
  newest(most: number): T[] {
    return this.rows.slice(-most).reverse();
  }

  /** Returns the number of the newest row for which `isWanted` returns true; undefined if none. */
  find(isWanted: (row: T) => boolean): number | undefined {
    const at = this.rows.findLastIndex(isWanted);
    return at < 0 ? undefined : this.first + at;
  }

  /** Removes all rows. The next row gets the number that it would have had without this call. */
  clear(): void {
    this.first = this.total;
    this.rows = [];
    this.letGo = 0;
    this.isCleared = true;
  }
}
