import type { Steps } from '../../schedule/steps.js';
import type { Change } from '../diff/change.js';
import { LineInterner, type Lines } from '../diff/line-interner.js';
import { diffByHistogram } from './histogram.js';

export interface MergeLabels {
  readonly ours: string;
  readonly theirs: string;
}

export interface ThreeWayResult {
  readonly body: Buffer;
  readonly isClean: boolean;
}

/**
 * Side that changed the lines of a hunk. `conflict` means that both sides changed the lines differently, `same` that
 * both made the same change.
 */
type Verdict = 'ours' | 'theirs' | 'conflict' | 'same';

/**
 * Change of some lines of the base by one side or both. The ranges give these lines in our version and in their
 * version. Line numbers start at 0.
 */
interface Hunk {
  verdict: Verdict;
  oursStart: number;
  oursCount: number;
  theirsStart: number;
  theirsCount: number;
}

/** Maximum number of unchanged lines between two conflicts that are joined into one, which is easier to read. */
const MAX_GAP = 3;
const MARKER = 7;

/**
 * Merges two texts line by line over a base, as Git's merges do (`xdiff/xmerge.c`). Changes that only one side made are
 * taken. Equal changes of both sides are taken once. Where changes overlap, only the lines that differ are marked as a
 * conflict.
 *
 * `extraMarkers` is the number of characters by which the markers `<<<<<<<`, `=======` and `>>>>>>>` are lengthened.
 * Longer markers distinguish conflicts within conflicts.
 */
export function* mergeTexts(
  base: Buffer,
  ours: Buffer,
  theirs: Buffer,
  labels: MergeLabels,
  extraMarkers = 0,
): Steps<ThreeWayResult> {
  const interner = new LineInterner();
  const baseLines = yield* interner.split(base);
  const oursLines = yield* interner.split(ours, baseLines);
  const theirsLines = yield* interner.split(theirs, baseLines);
  const ourChanges = yield* diffByHistogram(interner, baseLines.ids, oursLines.ids);
  if (ourChanges.length === 0) return { body: theirs, isClean: true };
  const theirChanges = yield* diffByHistogram(interner, baseLines.ids, theirsLines.ids);
  if (theirChanges.length === 0) return { body: ours, isClean: true };
  const hunks = alignChanges(ourChanges, theirChanges, oursLines, theirsLines);
  const refined = joinNearConflicts(yield* refineConflicts(interner, hunks, oursLines, theirsLines));
  const writer = new ConflictWriter(baseLines, oursLines, theirsLines, labels, MARKER + extraMarkers);
  return { body: writer.write(refined), isClean: refined.every(({ verdict }) => verdict !== 'conflict') };
}

/** Combines the changes of both sides into one list of hunks. Changes that overlap or touch form one hunk. */
function alignChanges(
  ours: readonly Change[],
  theirs: readonly Change[],
  oursLines: Lines,
  theirsLines: Lines,
): Hunk[] {
  const hunks: Hunk[] = [];
  // Difference between the number of an unchanged line on each side and its number in the base. It includes all changes
  // processed so far.
  let oursShift = 0;
  let theirsShift = 0;
  for (let i = 0, j = 0; i < ours.length || j < theirs.length; ) {
    const our = ours[i];
    const their = theirs[j];
    if (their === undefined || (our !== undefined && our.oldStart + our.oldCount < their.oldStart)) {
      const change = our!;
      append(hunks, 'ours', change.newStart, change.newCount, change.oldStart + theirsShift, change.oldCount);
      oursShift = change.newStart + change.newCount - change.oldStart - change.oldCount;
      i++;
      continue;
    }
    if (our === undefined || their.oldStart + their.oldCount < our.oldStart) {
      append(hunks, 'theirs', their.oldStart + oursShift, their.oldCount, their.newStart, their.newCount);
      theirsShift = their.newStart + their.newCount - their.oldStart - their.oldCount;
      j++;
      continue;
    }
    if (!isSameChange(our, their, oursLines, theirsLines)) {
      const start = Math.min(our.oldStart, their.oldStart);
      const ourEnd = our.oldStart + our.oldCount;
      const theirEnd = their.oldStart + their.oldCount;
      const end = Math.max(ourEnd, theirEnd);
      const oursStart = our.newStart - (our.oldStart - start);
      const theirsStart = their.newStart - (their.oldStart - start);
      const oursEnd = our.newStart + our.newCount + (end - ourEnd);
      const theirsEnd = their.newStart + their.newCount + (end - theirEnd);
      append(hunks, 'conflict', oursStart, oursEnd - oursStart, theirsStart, theirsEnd - theirsStart);
    }
    oursShift = our.newStart + our.newCount - our.oldStart - our.oldCount;
    theirsShift = their.newStart + their.newCount - their.oldStart - their.oldCount;
    const ourEnd = our.oldStart + our.oldCount;
    const theirEnd = their.oldStart + their.oldCount;
    if (ourEnd >= theirEnd) j++;
    if (theirEnd >= ourEnd) i++;
  }
  return hunks;
}

function append(
  hunks: Hunk[],
  verdict: Verdict,
  oursStart: number,
  oursCount: number,
  theirsStart: number,
  theirsCount: number,
): void {
  const last = hunks.at(-1);
  const touches =
    last !== undefined &&
    (oursStart <= last.oursStart + last.oursCount || theirsStart <= last.theirsStart + last.theirsCount);
  if (!touches) {
    hunks.push({ verdict, oursStart, oursCount, theirsStart, theirsCount });
    return;
  }
  if (last.verdict !== verdict) last.verdict = 'conflict';
  last.oursCount = oursStart + oursCount - last.oursStart;
  last.theirsCount = theirsStart + theirsCount - last.theirsStart;
}

function isSameChange(our: Change, their: Change, oursLines: Lines, theirsLines: Lines): boolean {
  if (our.oldStart !== their.oldStart || our.oldCount !== their.oldCount || our.newCount !== their.newCount)
    return false;
  for (let at = 0; at < our.newCount; at++) {
    if (oursLines.ids[our.newStart + at] !== theirsLines.ids[their.newStart + at]) return false;
  }
  return true;
}

/** Reduces each conflict to the lines in which the two sides differ. One conflict may become several. */
function* refineConflicts(interner: LineInterner, hunks: readonly Hunk[], ours: Lines, theirs: Lines): Steps<Hunk[]> {
  const refined: Hunk[] = [];
  for (const hunk of hunks) {
    const { oursStart, oursCount, theirsStart, theirsCount } = hunk;
    if (hunk.verdict !== 'conflict' || oursCount === 0 || theirsCount === 0) {
      refined.push(hunk);
      continue;
    }
    const changes = yield* diffByHistogram(
      interner,
      ours.ids.subarray(oursStart, oursStart + oursCount),
      theirs.ids.subarray(theirsStart, theirsStart + theirsCount),
    );
    if (changes.length === 0) refined.push({ ...hunk, verdict: 'same' });
    for (const { oldStart, oldCount, newStart, newCount } of changes) {
      refined.push({
        verdict: 'conflict',
        oursStart: oursStart + oldStart,
        oursCount: oldCount,
        theirsStart: theirsStart + newStart,
        theirsCount: newCount,
      });
    }
  }
  return refined;
}

function joinNearConflicts(hunks: readonly Hunk[]): Hunk[] {
  const joined: Hunk[] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    const isNear =
      last?.verdict === 'conflict' &&
      hunk.verdict === 'conflict' &&
      hunk.oursStart - last.oursStart - last.oursCount <= MAX_GAP;
    if (!isNear) {
      joined.push({ ...hunk });
      continue;
    }
    last.oursCount = hunk.oursStart + hunk.oursCount - last.oursStart;
    last.theirsCount = hunk.theirsStart + hunk.theirsCount - last.theirsStart;
  }
  return joined;
}

const LF = 0x0a;
const CR = 0x0d;

class ConflictWriter {
  readonly #parts: Buffer[] = [];

  constructor(
    private readonly base: Lines,
    private readonly ours: Lines,
    private readonly theirs: Lines,
    private readonly labels: MergeLabels,
    private readonly markerSize: number,
  ) {}

  write(hunks: readonly Hunk[]): Buffer {
    // Number of lines of our version that are already processed, either copied or replaced by another version.
    let done = 0;
    for (const hunk of hunks) {
      const { verdict, oursStart, oursCount, theirsStart, theirsCount } = hunk;
      if (verdict === 'same') continue;
      this.#copy(this.ours, done, oursStart - done);
      if (verdict === 'conflict') this.#conflict(hunk);
      else if (verdict === 'ours') this.#copy(this.ours, oursStart, oursCount);
      else this.#copy(this.theirs, theirsStart, theirsCount);
      done = oursStart + oursCount;
    }
    this.#copy(this.ours, done, this.ours.ids.length - done);
    return Buffer.concat(this.#parts);
  }

  #conflict(hunk: Hunk): void {
    const end = this.#usesCrLf(hunk) ? '\r\n' : '\n';
    this.#marker('<', ` ${this.labels.ours}`, end);
    this.#copyWhole(this.ours, hunk.oursStart, hunk.oursCount, end);
    this.#marker('=', '', end);
    this.#copyWhole(this.theirs, hunk.theirsStart, hunk.theirsCount, end);
    this.#marker('>', ` ${this.labels.theirs}`, end);
  }

  #marker(char: string, label: string, end: string): void {
    this.#parts.push(Buffer.from(`${char.repeat(this.markerSize)}${label}${end}`, 'latin1'));
  }

  #copy(lines: Lines, start: number, count: number): void {
    if (count > 0) this.#parts.push(lines.bytes.subarray(lines.starts[start], lines.starts[start + count]));
  }

  /**
   * Copies lines as `#copy` does, and adds a line end if the last line has none. A conflict marker follows, which needs
   * its own line.
   */
  #copyWhole(lines: Lines, start: number, count: number, end: string): void {
    this.#copy(lines, start, count);
    if (count > 0 && lines.bytes[lines.starts[start + count]! - 1] !== LF) this.#parts.push(Buffer.from(end));
  }

  /**
   * Returns true if conflict markers must end in CR LF. As in Git, the lines before the conflict on both sides and the
   * first line of the base must then end in CR LF. A line whose line end cannot be determined is ignored.
   */
  #usesCrLf({ oursStart, theirsStart }: Hunk): boolean {
    let isCrLf = endsInCrLf(this.ours, Math.max(0, oursStart - 1));
    if (isCrLf !== false) isCrLf = endsInCrLf(this.theirs, Math.max(0, theirsStart - 1));
    if (isCrLf !== false) isCrLf = endsInCrLf(this.base, 0);
    return isCrLf === true;
  }
}

/**
 * Returns true if a line ends in CR LF. For a last line without a line end, the previous line decides. Returns
 * undefined if there is no line end to examine.
 */
function endsInCrLf({ bytes, starts, ids }: Lines, line: number): boolean | undefined {
  if (ids.length === 0) return undefined;
  const end = starts[line + 1]!;
  if (bytes[end - 1] === LF) return end - starts[line]! > 1 && bytes[end - 2] === CR;
  if (line === 0) return undefined;
  return starts[line]! - starts[line - 1]! > 1 && bytes[starts[line]! - 2] === CR;
}
