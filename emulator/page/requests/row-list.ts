/**
 * List of at most `most` rows, which are numbered in order of arrival. If the list is full, each new row replaces the
 * oldest. The number of a row stays the same while the row is in the list.
 */
export class RowList<T> {
  private rows: T[] = [];
  /** Number of the oldest row in the list. It is negative if rows older than row 0 were added later. */
  first = 0;
  /** Number of rows that were dropped since the list was last cleared, because the list was full. */
  dropped = 0;
  /** True after `clear` was called. From then on, `addOlder` adds no rows. */
  isCleared = false;

  constructor(private readonly most: number) {}

  /** Number that the next new row will have. */
  get total(): number {
    return this.first + this.rows.length;
  }

  add(row: T): void {
    this.rows.push(row);
    if (this.rows.length <= this.most) return;
    this.rows.shift();
    this.first += 1;
    this.dropped += 1;
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

  /**
   * Returns the number of the newest row for which `isWanted` returns true; undefined if no row in the list qualifies.
   */
  find(isWanted: (row: T) => boolean): number | undefined {
    const at = this.rows.findLastIndex(isWanted);
    return at < 0 ? undefined : this.first + at;
  }

  /** Removes all rows. The next row gets the number that it would have had without this call. */
  clear(): void {
    this.first = this.total;
    this.rows = [];
    this.dropped = 0;
    this.isCleared = true;
  }
}
