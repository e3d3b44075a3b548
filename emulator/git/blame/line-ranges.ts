import type { Lines } from '../diff/index.js';

/** Lines `start` to before `end`, counted from 0. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Thrown for a range that cannot be read, or is not in the file. */
export class BadLineRange extends Error {
  override readonly name = 'BadLineRange';
}

/** Compiles a pattern of a range; `^` and `$` are those of lines. Throws on a malformed one. */
type Search = (text: string) => number;

/**
 * Reads ranges as `git blame -L` takes them, against the lines of a file, sorted and joined:
 *
 *     <start>,<end>   <start>   ,<end>     lines count from 1, both ends belong to the range
 *     <start>,+<n>    <start>,-<n>         n lines from, or up to, the start
 *     /<pattern>/                          the next line that matches, instead of either number
 *     ^/<pattern>/                         the same from the top of the file
 *     :<pattern>                           from the heading that matches to the next heading
 *
 * A search starts behind the range before it. Patterns are RE2's. No ranges are all lines.
 */
export async function parseLineRanges(ranges: readonly string[], lines: Lines): Promise<LineRange[]> {
  const count = lines.ids.length;
  if (ranges.length === 0) return count === 0 ? [] : [{ start: 0, end: count }];
  const parser = new RangeParser(lines, ranges.some(mayNeedPattern) ? await import('re2js') : undefined);
  const parsed: LineRange[] = [];
  let anchor = 1;
  for (const range of ranges) {
    const [first, last] = parser.parse(range, Math.min(anchor, count + 1));
    if ((count === 0 && (first > 0 || last > 0)) || count < first) {
      throw new BadLineRange(`file has only ${count} line${count === 1 ? '' : 's'}`);
    }
    const end = last < 1 || last > count ? count : last;
    parsed.push({ start: Math.max(first, 1) - 1, end });
    anchor = end + 1;
  }
  return joinRanges(parsed);
}

function mayNeedPattern(range: string): boolean {
  return /[/:]/.test(range);
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

type Re2 = typeof import('re2js');

class RangeParser {
  readonly #text: string;

  constructor(
    private readonly lines: Lines,
    private readonly re2: Re2 | undefined,
  ) {
    this.#text = re2 ? lines.bytes.toString('latin1') : '';
  }

  /** First and last line, counted from 1; 0 where nothing is said. */
  parse(range: string, anchor: number): [number, number] {
    const name = /^(\^?):(.+)$/s.exec(range);
    if (name) return this.#headed(name[2]!, name[1] ? 1 : anchor);
    const parts = /^((?:[^,/]|\/(?:[^\\/]|\\.)*\/)*)(?:,(.*))?$/s.exec(range);
    if (!parts) throw malformed(range);
    const first = this.#place(parts[1]!, -anchor, range);
    const last = parts[2] === undefined ? 0 : this.#place(parts[2], first + 1, range);
    return first > 0 && last > 0 && last < first ? [last, first] : [first, last];
  }

  /** A line. `base` is the line relative places count from, negative where there are none such. */
  #place(place: string, base: number, range: string): number {
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
    const line = this.#find(pattern[2]!.replaceAll('\\/', '/'), from);
    if (line < 0) throw new BadLineRange(`-L parameter '${pattern[2]}' starting at line ${from}: No match`);
    return line;
  }

  #find(pattern: string, from: number): number {
    const at = this.#search(pattern)(this.#text.slice(this.lines.starts[from - 1] ?? 0));
    if (at < 0) return -1;
    return this.#lineAt(at + (this.lines.starts[from - 1] ?? 0));
  }

  #search(pattern: string): Search {
    try {
      const { RE2JS } = this.re2!;
      const compiled = RE2JS.compile(Buffer.from(pattern, 'utf8').toString('latin1'), RE2JS.MULTILINE);
      return (text) => {
        const matcher = compiled.matcher(text);
        return matcher.find() ? matcher.start() : -1;
      };
    } catch (error) {
      throw new BadLineRange(`-L parameter '${pattern}': ${(error as Error).message}`);
    }
  }

  /** The line, counted from 1, that byte `at` is in. */
  #lineAt(at: number): number {
    const { starts } = this.lines;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    return Math.min(low + 1, Math.max(1, starts.length - 1));
  }

  #headed(pattern: string, anchor: number): [number, number] {
    const search = this.#search(pattern);
    const { starts, ids } = this.lines;
    for (let line = anchor; line <= ids.length; line++) {
      if (!this.#isHeading(line) || search(this.#text.slice(starts[line - 1]!, starts[line]!)) < 0) continue;
      let end = line + 1;
      while (end <= ids.length && !this.#isHeading(end)) end++;
      return [line, end - 1];
    }
    throw new BadLineRange(`-L parameter '${pattern}' starting at line ${anchor}: no match`);
  }

  #isHeading(line: number): boolean {
    return /^[A-Za-z_$]/.test(this.#text.slice(this.lines.starts[line - 1]!, this.lines.starts[line - 1]! + 1));
  }
}

function malformed(range: string): BadLineRange {
  return new BadLineRange(`-L malformed range '${range}'`);
}
