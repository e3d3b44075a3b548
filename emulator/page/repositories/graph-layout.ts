/*
 * Where the lines of a commit graph run: in lanes, one for each commit that is awaited, as `git log --graph` draws them.
 * Commits come in an order in which no parent is before its children.
 */

/** What of a commit the layout needs. */
export interface LaidOut {
  readonly oid: string;
  readonly parents: readonly string[];
}

/** A line within one row. `down`: from its upper to its lower edge; `in`: to the commit; `out`: from the commit. */
export interface Segment {
  readonly kind: 'down' | 'in' | 'out';
  /** Lanes: at the upper edge or of the commit; at the lower edge or of the commit. */
  readonly from: number;
  readonly to: number;
  /** 0 … COLOURS - 1. */
  readonly colour: number;
}

/** As many as the style sheet has: `.lane-0` … */
export const COLOURS = 8;

const KINDS = ['down', 'in', 'out'] as const;

/** Lanes beyond are drawn in the last one: a segment is packed in a small integer, 12 and 12 bits of it for lanes. */
const MOST_LANES = 1 << 12;

/** Of lanes beyond, those that go straight on are left out: with thousands side by side each row would have thousands of lines. */
const MOST_PASSING = 256;

interface Lane {
  readonly awaited: string;
  readonly colour: number;
}

/** Takes commits in order, any number at a time, and keeps their lines in few bytes. */
export class GraphLayout {
  /** What each lane waits for at the lower edge of the last row; a commit is awaited by one lane at most. */
  readonly #lanes: (Lane | undefined)[] = [];
  readonly #laneOf = new Map<string, number>();
  readonly #commits: number[] = [];
  /** The first segment of each row, and the end of those of the last. */
  readonly #starts = [0];
  readonly #segments: number[] = [];
  /** Lanes that are in use side by side at most. */
  width = 0;

  get rows(): number {
    return this.#commits.length;
  }

  add(commits: readonly LaidOut[]): void {
    for (const commit of commits) this.#addRow(commit);
  }

  /** The lane of a row's commit, and its colour. */
  commitAt(row: number): { readonly lane: number; readonly colour: number } {
    const packed = this.#commits[row]!;
    return { lane: packed >>> 3, colour: packed & 7 };
  }

  segmentsAt(row: number): Segment[] {
    return this.#segments.slice(this.#starts[row], this.#starts[row + 1]).map((packed) => ({
      kind: KINDS[packed & 3]!,
      colour: (packed >>> 2) & 7,
      to: (packed >>> 5) & (MOST_LANES - 1),
      from: packed >>> 17,
    }));
  }

  #addRow({ oid, parents }: LaidOut): void {
    const lanes = this.#lanes;
    const awaitedIn = this.#laneOf.get(oid);
    const lane = awaitedIn ?? this.#freeLane(lanes);
    const above = [...lanes];
    const colour = lanes[lane]?.colour ?? this.#colourFor(oid, lane);
    /** Where lanes lead that do not go straight on. */
    const turns = new Map<number, number>();
    const out: Segment[] = [];
    this.#end(lane);
    for (const [at, parent] of [...new Set(parents)].entries()) {
      const found = this.#laneOf.get(parent);
      let to = found ?? (at === 0 ? lane : this.#freeLane(above));
      if (at === 0 && found !== undefined && found > lane) {
        // The line further left goes on, and the other one joins it.
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
      if (at >= MOST_PASSING && !turns.has(at)) continue;
      this.#push({ kind: 'down', from: at, to: turns.get(at) ?? at, colour: passing.colour });
    }
    if (awaitedIn !== undefined) this.#push({ kind: 'in', from: lane, to: lane, colour });
    for (const segment of out) this.#push(segment);
    this.#commits.push((lane << 3) | colour);
    this.#starts.push(this.#segments.length);
    this.width = Math.max(this.width, lane + 1, lanes.length);
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
  }

  /** The first lane that is free now, and was at the upper edge of the row. */
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

  /** By the commit that a line begins with, so that it is the same when others come; while there are some left, one that no other line has. */
  #colourFor(oid: string, at: number): number {
    const wanted = Number.parseInt(oid.slice(0, 6), 16) % COLOURS || 0;
    const used = new Set(this.#lanes.slice(0, MOST_PASSING).map((lane) => lane?.colour));
    const colours = Array.from({ length: COLOURS }, (_, step) => (wanted + step) % COLOURS);
    const isBeside = (colour: number) => [at - 1, at + 1].some((lane) => this.#lanes[lane]?.colour === colour);
    return colours.find((colour) => !used.has(colour)) ?? colours.find((colour) => !isBeside(colour))!;
  }

  #push({ kind, from, to, colour }: Segment): void {
    const last = MOST_LANES - 1;
    const lanes = (Math.min(from, last) << 17) | (Math.min(to, last) << 5);
    this.#segments.push(lanes | (colour << 2) | KINDS.indexOf(kind));
  }
}
