/** Most recent rows of a stream, by number. Older rows are dropped. */
export class RowList<T> {
  private rows: T[] = [];
  /** Number of the oldest row that is kept. */
  first = 0;
  /** Number of rows dropped since the list was empty. */
  letGo = 0;
  /** True if `clear` was called. */
  isCleared = false;

  constructor(private readonly most: number) {}

  /** Number of rows so far, which is the number of the next row. */
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

  /** Adds a row older than all others. Returns false if the list is full or was cleared. */
  addOlder(row: T): boolean {
    if (this.isCleared || this.rows.length >= this.most) return false;
    this.rows.unshift(row);
    this.first -= 1;
    return true;
  }

  /** Returns a row; undefined if it was dropped or has not arrived. */
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

  /** Drops all rows. Numbering continues. */
  clear(): void {
    this.first = this.total;
    this.rows = [];
    this.letGo = 0;
    this.isCleared = true;
  }
}
