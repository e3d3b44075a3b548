/**
 * List of at most `most` rows. The rows are numbered in order of arrival, and a row keeps its number while it is in the
 * list. If the list is full, each new row replaces the oldest.
 */
export class RowList<T> {
  private rows: T[] = [];
  /** Number of the oldest row in the list. It is negative if rows older than row 0 were added later. */
  first = 0;
  /**
   * Number of rows that were dropped because the list was full. It counts from the last time that the list was cleared.
   */
  dropped = 0;
  /** True after `clear` was called. `addOlder` adds no rows from then on. */
  isCleared = false;

  constructor(private readonly most: number) {}

  /** Number of the next row that will be added. */
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

  /** True if the next new row will replace another row. */
  get isFull(): boolean {
    return this.rows.length >= this.most;
  }

  /**
   * Adds a row to a list that is sorted by `keyOf`, with the highest key at the end. Among equals, the new row is
   * the last. If the list is full, the row with the lowest key is dropped, which may be the new row.
   */
  insert(row: T, keyOf: (row: T) => number): void {
    const key = keyOf(row);
    const above = this.rows.findLastIndex((other) => keyOf(other) <= key) + 1;
    if (this.isFull) this.dropped += 1;
    if (this.isFull && above === 0) return;
    this.rows.splice(above, 0, row);
    if (this.rows.length <= this.most) return;
    this.rows.shift();
    this.first += 1;
  }

  /** Removes all rows, and returns them in order. */
  takeAll(): T[] {
    const { rows } = this;
    this.first = this.total;
    this.rows = [];
    return rows;
  }

  /**
   * Adds a row that is older than all other rows. If the list is full or was cleared, adds nothing and returns false.
   */
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

  /**
   * Returns the rows with numbers from `from` to below `to`, oldest first. Omits rows that were dropped from the list.
   */
  slice(from: number, to: number): T[] {
    return this.rows.slice(Math.max(from - this.first, 0), Math.max(to - this.first, 0));
  }

  /** Returns the newest rows, at most `most` of them. The newest row is first. */
  newest(most: number): T[] {
    return this.rows.slice(-most).reverse();
  }

  /** Returns the number of the newest row for which `isWanted` returns true; undefined if none. */
  find(isWanted: (row: T) => boolean): number | undefined {
    const at = this.rows.findLastIndex(isWanted);
    return at < 0 ? undefined : this.first + at;
  }

  /**
   * Removes all rows. The numbering continues: the next row gets the number that it would have had without this call.
   */
  clear(): void {
    this.first = this.total;
    this.rows = [];
    this.dropped = 0;
    this.isCleared = true;
  }
}
