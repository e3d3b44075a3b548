import { lastUpTo } from '../../memory/sorted.js';
import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { PIECE, PIECE_COST, runYielding, type Steps } from '../../schedule/steps.js';
import type { Lines } from '../diff/line-interner.js';
import type { LineAutomaton } from '../grep/line-automaton.js';
import { compileAutomaton, InvalidPattern } from '../grep/matcher.js';

/** Lines `start` (inclusive) to `end` (exclusive) of a file, counted from 0. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Error for a line range of a blame request that is malformed or outside the file. */
export class BadLineRange extends Error {
  override readonly name = 'BadLineRange';
}

/**
 * Parses line ranges in the syntax of `git blame -L`. Returns the ranges, sorted and merged:
 *
 * - `<start>,<end>`, `<start>` or `,<end>`: from start to end. Lines count from 1, and both ends are included.
 * - `<start>,+<n>` or `<start>,-<n>`: n lines that begin or end with line start.
 * - `/<pattern>/` in place of a number: the next line that matches.
 * - `^/<pattern>/` in place of a number: the first line of the file that matches.
 * - `:<pattern>`: from the heading that matches to the next heading.
 *
 * The search for a pattern starts after the previous range. Patterns are RE2 patterns, which match the bytes of a
 * single line. Without ranges, the result contains all lines. Throws `BadLineRange` or `WorkLimitExceeded`.
 */
export async function parseLineRanges(ranges: readonly string[], lines: Lines, meter: Meter): Promise<LineRange[]> {
  const count = lines.ids.length;
  if (ranges.length === 0) return count === 0 ? [] : [{ start: 0, end: count }];
  const parser = new RangeParser(lines, meter);
  const parsed: LineRange[] = [];
  let anchor = 1;
  for (const range of ranges) {
    const [first, last] = await parser.parse(range, Math.min(anchor, count + 1));
    if ((count === 0 && (first > 0 || last > 0)) || count < first) {
      throw new BadLineRange(`file has only ${count} line${count === 1 ? '' : 's'}`);
    }
    const end = last < 1 || last > count ? count : last;
    parsed.push({ start: Math.max(first, 1) - 1, end });
    anchor = end + 1;
  }
  return joinRanges(parsed);
}

function joinRanges(ranges: LineRange[]): LineRange[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of ranges.sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (start >= end) continue;
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/**
 * `PIECE_BYTES`: number of bytes of the file converted to text at once. `PIECE_LINES`: number of lines visited between
 * two yields to the event loop.
 */
const PIECE_BYTES = 4096;
const PIECE_LINES = 4096;

class RangeParser {
  constructor(
    private readonly lines: Lines,
    private readonly meter: Meter,
  ) {}

  /**
   * Returns the numbers of the first and last line of a range, counted from 1. A number is 0 if the range omits it.
   * Searches for patterns start at line `anchor`, the line after the previous range.
   */
  async parse(range: string, anchor: number): Promise<[number, number]> {
    const name = /^(\^?):(.+)$/s.exec(range);
    if (name) return this.#headed(name[2]!, name[1] ? 1 : anchor);
    const parts = /^((?:[^,/]|\/(?:[^\\/]|\\.)*\/)*)(?:,(.*))?$/s.exec(range);
    if (!parts) throw malformed(range);
    const first = await this.#place(parts[1]!, -anchor, range);
    const last = parts[2] === undefined ? 0 : await this.#place(parts[2], first + 1, range);
    return first > 0 && last > 0 && last < first ? [last, first] : [first, last];
  }

  /**
   * Returns the line number for `place`, one end of a range such as `10`, `+5` or `/pattern/`. Returns 0 if `place` is
   * empty. `+n` and `-n` count from line `base`. If `base` is negative, `+n` and `-n` are not allowed, and the search
   * for a pattern starts at line `-base`.
   */
  async #place(place: string, base: number, range: string): Promise<number> {
    if (place === '') return 0;
    const relative = base >= 1 ? /^([+-])(\d{1,15})$/.exec(place) : null;
    if (relative) {
      const distance = Number(relative[2]);
      if (distance === 0) throw new BadLineRange('-L invalid empty range');
      return relative[1] === '+' ? base + distance - 2 : Math.max(1, base - distance);
    }
    if (/^[+-]?\d{1,15}$/.test(place)) {
      const line = Number(place);
      if (line <= 0) throw new BadLineRange(`-L invalid line number: ${line}`);
      return line;
    }
    const pattern = /^(\^?)\/(.*)\/$/s.exec(place);
    if (!pattern || (pattern[1] && base >= 0)) throw malformed(range);
    const from = pattern[1] ? 1 : Math.abs(base);
    const line = await this.#find(pattern[2]!.replaceAll('\\/', '/'), from);
    if (line < 0) throw new BadLineRange(`-L parameter '${pattern[2]}' starting at line ${from}: No match`);
    return line;
  }

  async #find(pattern: string, from: number): Promise<number> {
    const automaton = await this.#compile(pattern);
    return runYielding(this.#match(automaton, from), this.meter);
  }

  async #headed(pattern: string, anchor: number): Promise<[number, number]> {
    const automaton = await this.#compile(pattern);
    const first = await runYielding(this.#heading(automaton, anchor), this.meter);
    if (first < 0) throw new BadLineRange(`-L parameter '${pattern}' starting at line ${anchor}: no match`);
    return [first, await runYielding(this.#lastUnder(first), this.meter)];
  }

  async #compile(pattern: string): Promise<LineAutomaton> {
    try {
      return await compileAutomaton(Buffer.from(pattern, 'utf8').toString('latin1'), this.meter);
    } catch (error) {
      if (!(error instanceof InvalidPattern)) throw error;
      throw new BadLineRange(`-L parameter '${pattern}': ${error.reason}`);
    }
  }

  /** Returns the first line at or after line `from` that matches the pattern, counted from 1; -1 if none. */
  *#match(automaton: LineAutomaton, from: number): Steps<number> {
    const { bytes, starts } = this.lines;
    const start = starts[from - 1] ?? bytes.length;
    if (start >= bytes.length) return -1;
    if (automaton.matchesAll) return from;
    automaton.begin();
    for (let at = start; at < bytes.length; ) {
      const piece = bytes.toString('latin1', at, at + PIECE_BYTES);
      at += automaton.read(piece, 0, piece.length);
      yield automaton.takeCost();
      if (automaton.isMatched) return lastUpTo(starts, at, starts.length - 1) + 1;
    }
    if (bytes[bytes.length - 1] === LINE_FEED) return -1;
    automaton.readEnd();
    return automaton.isMatched ? this.lines.ids.length : -1;
  }

  /**
   * Returns the number of the first heading that matches the pattern, at or after line `from`; -1 if none. A heading is
   * a line that starts a section (see `#isHeading`).
   */
  *#heading(automaton: LineAutomaton, from: number): Steps<number> {
    for (let line = from; ; line++) {
      line = yield* this.#match(automaton, line);
      if (line % PIECE === 0) yield PIECE_COST;
      if (line < 0 || this.#isHeading(line)) return line;
    }
  }

  /**
   * Returns the last line of the section under a heading. This is the line before the next heading, or the last line of
   * the file.
   */
  *#lastUnder(heading: number): Steps<number> {
    const count = this.lines.ids.length;
    for (let line = heading + 1; line <= count; line++) {
      if (this.#isHeading(line)) return line - 1;
      if (line % PIECE_LINES === 0) yield PIECE_LINES * COST.operation;
    }
    return count;
  }

  /**
   * Returns true if the line begins with a letter, `_` or `$`. Git treats such lines as headings of sections if no diff
   * driver is configured (gitattributes, "Defining a custom hunk-header").
   */
  #isHeading(line: number): boolean {
    const byte = this.lines.bytes[this.lines.starts[line - 1]!]!;
    return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f || byte === 0x24;
  }
}

const LINE_FEED = 0x0a;

function malformed(range: string): BadLineRange {
  return new BadLineRange(`-L malformed range '${range}'`);
}
