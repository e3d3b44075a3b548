/*
 * Layout of a commit graph in lanes (columns), as in `git log --graph`. Commits are listed before their parents. Each
 * row has one lane for each commit that is not listed yet but is a parent of a listed commit.
 */

/** Commit id and ids of the parents. The layout of the graph needs no other data. */
export interface LaidOut {
  readonly oid: string;
  readonly parents: readonly string[];
}

/**
 * Line of the commit graph within the row of one commit:
 *
 * - `down`: passes the commit, from the upper to the lower edge of the row
 * - `in`: comes from a child, from the upper edge to the commit
 * - `out`: leads to a parent, from the commit to the lower edge
 */
export interface Segment {
  readonly kind: 'down' | 'in' | 'out';
  /** Lanes in which the line starts and ends. A lane is a column of the graph, numbered from 0 at the left. */
  readonly from: number;
  readonly to: number;
  /** Number of the colour, from 0 to COLOURS - 1. */
  readonly colour: number;
}

/** Number of colours of lines in the commit graph. The style sheet defines them as `.lane-0` … `.lane-7`. */
export const COLOURS = 8;

const KINDS = ['down', 'in', 'out'] as const;

/**
 * Maximum number of lanes (columns) of the graph. All further lanes are drawn in the last lane. The limit exists,
 * because a line is packed into one integer with 12 bits for each of its two lanes.
 */
const MAX_LANES = 1 << 12;

/**
 * Number of lanes in which a vertical line is drawn beside each commit that it passes. In all further lanes, these
 * lines are omitted, because thousands of parallel lines would add thousands of elements to each row.
 */
const MAX_PASSING = 256;

interface Lane {
  readonly awaited: string;
  readonly colour: number;
}

/**
 * Computes the layout of a commit graph row by row while commits are added. Each line (`Segment`) is packed into one
 * integer of 29 bits, which takes less memory than an object.
 */
export class GraphLayout {
  /**
   * Commit to which each lane leads at the lower edge of the last added row, by lane number; undefined if the lane is
   * free. At most one lane leads to each commit, because lanes to one commit are joined.
   */
  readonly #lanes: (Lane | undefined)[] = [];
  readonly #laneOf = new Map<string, number>();
  readonly #commits: number[] = [];
  /**
   * Index in `#segments` of the first line of each row. The last element is the end of the last row. The lines of row
   * `n` are therefore those from `#starts[n]` to `#starts[n + 1]` (exclusive).
   */
  readonly #starts = [0];
  readonly #segments: number[] = [];
  /** Maximum number of lanes that any row has needed so far. */
  width = 0;

  add(commits: readonly LaidOut[]): void {
    for (const commit of commits) this.#addRow(commit);
  }

  /** Returns the lane in which the commit of a row is drawn, and the number of its colour. */
  commitAt(row: number): { readonly lane: number; readonly colour: number } {
    const packed = this.#commits[row]!;
    return { lane: packed >>> 3, colour: packed & 7 };
  }

  segmentsAt(row: number): Segment[] {
    return this.#segments.slice(this.#starts[row], this.#starts[row + 1]).map((packed) => ({
      kind: KINDS[packed & 3]!,
      colour: (packed >>> 2) & 7,
      to: (packed >>> 5) & (MAX_LANES - 1),
      from: packed >>> 17,
    }));
  }

  #addRow({ oid, parents }: LaidOut): void {
    const lanes = this.#lanes;
    const awaitedIn = this.#laneOf.get(oid);
    const lane = awaitedIn ?? this.#freeLane(lanes);
    const above = [...lanes];
    const colour = lanes[lane]?.colour ?? this.#colourFor(oid, lane);
    /**
     * Lines that change their lane in this row. The key is the lane at the upper edge of the row, the value is the lane
     * at its lower edge.
     */
    const turns = new Map<number, number>();
    const out: Segment[] = [];
    this.#end(lane);
    for (const [at, parent] of [...new Set(parents)].entries()) {
      const found = this.#laneOf.get(parent);
      let to = found ?? (at === 0 ? lane : this.#freeLane(above));
      if (at === 0 && found !== undefined && found > lane) {
        // Two lanes now lead to this parent. The left lane continues, and the line of the right lane joins it.
        const joining = lanes[found]!;
        this.#end(found);
        turns.set(found, lane);
        to = lane;
        this.#begin(to, parent, above[lane] === undefined ? joining.colour : colour);
      } else if (found === undefined) {
        this.#begin(to, parent, at === 0 ? colour : this.#colourFor(parent, to));
      }
      out.push({ kind: 'out', from: lane, to, colour: at === 0 ? colour : lanes[to]!.colour });
    }
    for (const [at, passing] of above.entries()) {
      if (passing === undefined || at === lane) continue;
      if (at >= MAX_PASSING && !turns.has(at)) continue;
      this.#push({ kind: 'down', from: at, to: turns.get(at) ?? at, colour: passing.colour });
    }
    if (awaitedIn !== undefined) this.#push({ kind: 'in', from: lane, to: lane, colour });
    for (const segment of out) this.#push(segment);
    this.#commits.push((lane << 3) | colour);
    this.#starts.push(this.#segments.length);
    this.width = Math.max(this.width, lane + 1, lanes.length);
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
  }

  /**
   * Returns the leftmost lane that is free at the upper edge (`above`) and at the lower edge (`#lanes`) of the row. A
   * new line in this lane overlaps no other line.
   */
  #freeLane(above: readonly (Lane | undefined)[]): number {
    for (let at = 0; ; at++) if (this.#lanes[at] === undefined && above[at] === undefined) return at;
  }

  #begin(at: number, awaited: string, colour: number): void {
    while (this.#lanes.length < at) this.#lanes.push(undefined);
    this.#lanes[at] = { awaited, colour };
    this.#laneOf.set(awaited, at);
  }

  #end(at: number): void {
    const lane = this.#lanes[at];
    if (lane === undefined) return;
    this.#laneOf.delete(lane.awaited);
    this.#lanes[at] = undefined;
  }

  /**
   * Returns the colour number of a new line. The colour is derived from the id of the line's first commit, so the line
   * keeps it when newer commits are added to the history.
   *
   * If another line has this colour, the next unused colour is returned. If all colours are used, a colour that neither
   * neighbouring lane has is returned.
   */
  #colourFor(oid: string, at: number): number {
    const wanted = Number.parseInt(oid.slice(0, 6), 16) % COLOURS || 0;
    const used = new Set(this.#lanes.slice(0, MAX_PASSING).map((lane) => lane?.colour));
    const colours = Array.from({ length: COLOURS }, (_, step) => (wanted + step) % COLOURS);
    const isBeside = (colour: number) => [at - 1, at + 1].some((lane) => this.#lanes[lane]?.colour === colour);
    return colours.find((colour) => !used.has(colour)) ?? colours.find((colour) => !isBeside(colour))!;
  }

  #push({ kind, from, to, colour }: Segment): void {
    const last = MAX_LANES - 1;
    const lanes = (Math.min(from, last) << 17) | (Math.min(to, last) << 5);
    this.#segments.push(lanes | (colour << 2) | KINDS.indexOf(kind));
  }
}
