import { COST } from '../../schedule/cost.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import type { Lines } from '../diff/line-interner.js';
import { diffTreeEntries } from '../diff/trees.js';
import { numberOf } from '../object/object.js';
import { MODE_GITLINK } from '../object/tree.js';
import type { GraphPosition } from '../revwalk/commit-graph.js';
import { type BlameEntry, byStart, type Origin } from './origin.js';
import type { Scoreboard } from './scoreboard.js';

/**
 * Minimum scores for accepting a group of lines as moved within a file (Git's `-M`) or copied from another file (`-C`).
 * The score of a group is 1 plus the number of its letters and digits. It must be greater than the minimum.
 */
const MOVE_SCORE = 20;
const COPY_SCORE = 40;

/**
 * Part of an entry (group of lines whose commit is being searched) that a parent contains at another place. `copied` is
 * this part; `rest` contains the parts of the entry before and after it.
 */
interface Claim {
  readonly source: Origin;
  readonly copied: BlameEntry;
  readonly rest: readonly BlameEntry[];
  readonly score: number;
}

/**
 * Finds lines that were moved or copied. It searches the files of a commit's parents for lines that the diff of the
 * file reports as added.
 */
export class MoveFinder {
  private constructor(
    private readonly board: Scoreboard,
    private readonly final: Lines,
    private readonly weights: Float64Array,
  ) {}

  static async of(board: Scoreboard, final: Lines): Promise<MoveFinder> {
    return new MoveFinder(board, final, await runYielding(weigh(final), board.meter));
  }

  /**
   * Passes lines that were moved within their file, or copied from another file, to the file of a parent that contained
   * them. Returns the entries (groups of lines) that no such file contained.
   */
  async pass(
    origin: Origin,
    entries: readonly BlameEntry[],
    parents: readonly GraphPosition[],
    sources: readonly (Origin | undefined)[],
  ): Promise<BlameEntry[]> {
    const claims: Claim[] = [];
    const tooSmall: BlameEntry[] = [];
    let left = this.#withoutSmall(entries, MOVE_SCORE, tooSmall);
    for (const source of sources) {
      if (source && left.length > 0) left = await this.#claim(left, [source], MOVE_SCORE, claims, tooSmall);
    }
    left = this.#withoutSmall(left, COPY_SCORE, tooSmall);
    for (const [index, parent] of parents.entries()) {
      if (left.length === 0) break;
      const others = await this.#otherFiles(origin, parent, sources[index]);
      left = await this.#claim(left, others, COPY_SCORE, claims, tooSmall);
    }
    this.#distribute(claims);
    return [...tooSmall, ...left];
  }

  /**
   * Returns the other files of the parent in which copied lines are searched. If the path exists in the parent, these
   * are the files that the commit changed. If the path is new, these are all files of the parent.
   */
  async #otherFiles(origin: Origin, parent: GraphPosition, source: Origin | undefined): Promise<Origin[]> {
    const { objects, meter } = this.board;
    const withUnchanged = source?.path !== origin.path;
    const [before, after] = [this.board.treeOf(parent), this.board.treeOf(origin.commit)];
    const others: Origin[] = [];
    for (const change of diffTreeEntries(objects, before, after, { withUnchanged })) {
      if (typeof change === 'number') meter.spend(change);
      const file = typeof change === 'number' ? undefined : change.before;
      if (file && file.mode !== MODE_GITLINK && file.path !== source?.path) {
        others.push(this.board.origin(parent, file.path, file.mode, numberOf(objects, file.oid)));
      }
      if (meter.shouldYield) await meter.yieldToEventLoop();
    }
    return others;
  }

  /**
   * Finds the longest match of each entry (group of lines) in the sources and adds it to `claims`. The search is
   * repeated for the parts of the entry before and after the match. Parts that are too small for the score `minimum`
   * are added to `tooSmall`. Returns the entries without a match.
   */
  async #claim(
    entries: readonly BlameEntry[],
    sources: readonly Origin[],
    minimum: number,
    claims: Claim[],
    tooSmall: BlameEntry[],
  ): Promise<BlameEntry[]> {
    const left: BlameEntry[] = [];
    let open = entries;
    while (open.length > 0) {
      const best: (Claim | undefined)[] = open.map(() => undefined);
      for (const source of sources) {
        const lines = await this.board.linesOf(source);
        for (const [index, entry] of open.entries()) {
          best[index] = await this.#bestClaim(entry, source, lines, best[index]);
          if (this.board.meter.shouldYield) await this.board.meter.yieldToEventLoop();
        }
        if (source.suspects.length === 0) source.lines = undefined;
      }
      const rest: BlameEntry[] = [];
      for (const [index, entry] of open.entries()) {
        const claim = best[index];
        if (claim && claim.score > minimum) {
          claims.push(claim);
          rest.push(...claim.rest);
        } else {
          left.push(entry);
        }
      }
      open = this.#withoutSmall(rest, minimum, tooSmall);
    }
    return left;
  }

  async #bestClaim(
    entry: BlameEntry,
    source: Origin,
    lines: Lines,
    best: Claim | undefined,
  ): Promise<Claim | undefined> {
    const { final, start, count } = entry;
    const changes = await this.board.compare(lines, partOf(this.final, final, final + count));
    changes.push({ oldStart: lines.ids.length, oldCount: 0, newStart: count, newCount: 0 });
    let claim = best;
    let from = 0;
    let sourceAt = 0;
    for (const change of changes) {
      const to = change.newStart;
      const score = 1 + this.weights[final + to]! - this.weights[final + from]!;
      if (from < to && score >= (claim?.score ?? 0)) {
        const rest = [];
        if (from > 0) rest.push({ final, start, count: from });
        if (to < count) rest.push({ final: final + to, start: start + to, count: count - to });
        claim = { source, copied: { final: final + from, start: sourceAt, count: to - from }, rest, score };
      }
      from = to + change.newCount;
      sourceAt = change.oldStart + change.oldCount;
    }
    return claim;
  }

  #withoutSmall(entries: readonly BlameEntry[], minimum: number, tooSmall: BlameEntry[]): BlameEntry[] {
    return entries.filter((entry) => {
      const { final, count } = entry;
      const isLarge = 1 + this.weights[final + count]! - this.weights[final]! > minimum;
      if (!isLarge) tooSmall.push(entry);
      return isLarge;
    });
  }

  #distribute(claims: readonly Claim[]): void {
    const bySource = new Map<Origin, BlameEntry[]>();
    for (const { source, copied } of claims) {
      const entries = bySource.get(source);
      if (entries) entries.push(copied);
      else bySource.set(source, [copied]);
    }
    for (const [source, entries] of bySource) this.board.suspect(source, entries.sort(byStart));
  }
}

/** Number of lines whose letters and digits are counted between two yields to the event loop. */
const UNIT = 4096;

/** Returns prefix sums over a file: item `n` is the number of letters and digits in its first `n` lines. */
function* weigh({ bytes, starts }: Lines): Steps<Float64Array> {
  const weights = new Float64Array(starts.length);
  for (let line = 0; line + 1 < starts.length; line++) {
    if (line % UNIT === 0) yield UNIT * COST.line;
    let weight = weights[line]!;
    for (let at = starts[line]!; at < starts[line + 1]!; at++) if (isAlphanumeric(bytes[at]!)) weight++;
    weights[line + 1] = weight;
  }
  return weights;
}

/** Returns the lines `from` to `to` (exclusive) as a separate file, so that they can be compared with another file. */
function partOf({ bytes, starts, ids }: Lines, from: number, to: number): Lines {
  const first = starts[from]!;
  return {
    bytes: bytes.subarray(first, starts[to]!),
    starts: starts.slice(from, to + 1).map((start) => start - first),
    ids: ids.subarray(from, to),
  };
}

function isAlphanumeric(byte: number): boolean {
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x7a);
}
