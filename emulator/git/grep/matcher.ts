import type { RE2JS } from 're2js';
import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runYielding, type Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { costOf, hasPlainEdges, literalOf, requiredText, trimEnds } from './analysis.js';
import { LineAutomaton } from './line-automaton.js';
import { readProgram } from './pattern-program.js';
import { patternSize } from './pattern-size.js';
import { printV8 } from './print.js';
import { LONGEST_TEXT, type Needle, needleOf } from './search-text.js';
import { type Node, parseSyntax } from './syntax.js';

/**
 * Error for an expression that is too large, or that RE2 does not support. RE2 supports neither look-around nor
 * back-references. Syntax errors also lead to this error.
 */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern';
  constructor(readonly reason: string) {
    super(`invalid pattern: ${reason}`);
  }
}

/**
 * Finds the lines of a text that match a pattern. It works in small steps, between which other requests can be served.
 * For any pattern, the total time is linear in the length of the text.
 */
export interface LineMatcher {
  /**
   * Text that every file with a match contains. Files without it can be skipped without decoding them. Undefined if no
   * such text is known.
   */
  readonly needle?: Needle | undefined;
  /**
   * Returns a position inside the first matching line at or after `from`; -1 if none. `from` must be the start of a
   * line.
   */
  find(text: string, from: number): Steps<number>;
}

const PLAIN_TEXT = /^[^\\^$.|?*+()[\]{}\n]+$/;
/** Number of characters that one call of `indexOf` searches before the work is reported to the meter. */
const TEXT_WINDOW = 1 << 17;
/**
 * Limits for using V8's regular expressions. `V8_WINDOW`: number of characters searched in one call. `V8_STEPS`:
 * maximum number of steps that an expression may need at each character.
 */
const V8_WINDOW = 1 << 14;
const V8_STEPS = 64;
/**
 * Cost per searched character in work units (about a microsecond each): `COST_OF_LOOKUP` for `indexOf`, `COST_OF_V8`
 * for a V8 expression without alternatives.
 */
const COST_OF_LOOKUP = COST.byteFound / 4;
const COST_OF_V8 = COST.byteFound / 2;
/**
 * Factor for the cost of a V8 expression that begins with `^`. Such an expression is slower, because V8 tries it at
 * each character of the text.
 */
const ANCHOR_FACTOR = 8;
/** Cost in work units of each place where the required text is found. The line around that place must be located. */
const COST_OF_HIT = 1 / 4;

/**
 * Compiles an expression in RE2 syntax, with RE2's meaning. Throws `InvalidPattern`.
 *
 * By default, RE2's compiled program runs on a `LineAutomaton`. A faster engine is used if it provably finds the same
 * lines in bounded time. This is `indexOf` for plain text, and V8's regular expressions for expressions with few
 * alternatives at each position.
 */
export async function compilePattern(pattern: string, ignoreCase: boolean, meter: Meter): Promise<LineMatcher> {
  const isPlain = !ignoreCase && PLAIN_TEXT.test(pattern);
  if (isPlain && pattern.length <= LONGEST_TEXT) return new TextMatcher(pattern);
  const original = await compileRe2(pattern, ignoreCase, meter);
  const parsed = parseSyntax(pattern, ignoreCase);
  if (parsed === undefined) return new AutomatonMatcher(original);

  const node = trimEnds(parsed);
  const required = ignoreCase ? '' : requiredText(node).slice(0, LONGEST_TEXT);
  const automaton = new AutomatonMatcher(original, needleOf(required));
  const text = ignoreCase ? undefined : literalOf(node);
  if (text !== undefined && text.length <= LONGEST_TEXT) return new TextMatcher(text);
  if (isCheap(node, ignoreCase)) return new V8Matcher(node, ignoreCase, automaton);
  return required === '' ? automaton : new RequiredTextMatcher(new TextMatcher(required), automaton);
}

/** Compiles an expression in RE2 syntax into an automaton. Throws `InvalidPattern`. */
export async function compileAutomaton(pattern: string, meter: Meter): Promise<LineAutomaton> {
  const program = await runYielding(readProgram(await compileRe2(pattern, false, meter)), meter);
  return new LineAutomaton(program);
}

async function compileRe2(pattern: string, ignoreCase: boolean, meter: Meter): Promise<RE2JS> {
  const longest = requestLimit('expressionLength');
  if (pattern.length > longest) throw new InvalidPattern(`it is longer than ${longest} characters`);
  const size = patternSize(pattern, ignoreCase);
  if (size > requestLimit('expressionSize')) throw new InvalidPattern('it is too large');
  const { RE2JS } = await import('re2js');
  if (meter.shouldYield) await meter.yieldToEventLoop();
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    throw new InvalidPattern(error instanceof Error ? error.message : String(error));
  } finally {
    meter.spend(size / 4);
  }
}

function startsAtLine(node: Node): boolean {
  const first = node.kind === 'all' ? node.parts[0] : node;
  return first?.kind === 'assert' && first.at === 'line-start';
}

function isCheap(node: Node, ignoreCase: boolean): boolean {
  if (!hasPlainEdges(node, ignoreCase)) return false;
  const { ways, length } = costOf(node);
  return ways * length <= V8_STEPS;
}

/** Matcher for plain text. It calls `indexOf` on windows of limited length, so that it can yield between them. */
class TextMatcher implements LineMatcher {
  readonly needle: Needle | undefined;

  constructor(private readonly wanted: string) {
    this.needle = needleOf(wanted);
  }

  *find(text: string, from: number): Steps<number> {
    for (let start = from; start < text.length; start += TEXT_WINDOW) {
      const isLast = text.length - start <= TEXT_WINDOW + this.wanted.length;
      const window = isLast ? text : text.slice(start, start + TEXT_WINDOW + this.wanted.length - 1);
      const found = window.indexOf(this.wanted, isLast ? start : 0);
      const at = isLast || found < 0 ? found : start + found;
      yield ((at < 0 ? Math.min(TEXT_WINDOW, text.length - start) : at - start) + this.wanted.length) * COST_OF_LOOKUP;
      if (at >= 0) return at;
      if (isLast) break;
    }
    return -1;
  }
}

/**
 * Matcher for expressions with few alternatives per position. V8's regular expressions search one window of whole lines
 * at a time. They are faster than the automaton (measured with `(readTree|writeBlob)` on 9 MB of text: 9 ms instead of
 * 45 ms). The automaton searches lines that are longer than a window.
 */
class V8Matcher implements LineMatcher {
  readonly needle: Needle | undefined;
  readonly #expression: RegExp;
  readonly #cost: number;

  constructor(
    node: Node,
    ignoreCase: boolean,
    private readonly automaton: AutomatonMatcher,
  ) {
    this.needle = automaton.needle;
    this.#expression = new RegExp(printV8(node), ignoreCase ? 'giu' : 'gu');
    this.#cost = COST_OF_V8 * Math.sqrt(costOf(node).ways) * (startsAtLine(node) ? ANCHOR_FACTOR : 1);
  }

  *find(text: string, from: number): Steps<number> {
    for (let start = from; start < text.length; ) {
      const end = yield* wholeLines(text, start, V8_WINDOW);
      if (end - start > V8_WINDOW) {
        const at = yield* this.automaton.findWithin(text, start, end);
        if (at >= 0) return at;
      } else {
        const window = start === 0 && end === text.length ? text : text.slice(start, end);
        this.#expression.lastIndex = 0;
        const at = this.#expression.exec(window)?.index ?? -1;
        yield (at < 0 ? window.length : at) * this.#cost;
        // An expression such as `^` can match the empty string after the last line feed of the window. Such a match is
        // ignored, because no line of the window starts there.
        if (at >= 0 && !(at === window.length && window.endsWith('\n'))) return start + at;
      }
      start = end;
    }
    return -1;
  }
}

/**
 * Matcher for expressions whose matches all contain one known text. `indexOf` finds this text, and the automaton runs
 * only on the lines that contain it.
 */
class RequiredTextMatcher implements LineMatcher {
  readonly needle: Needle | undefined;

  constructor(
    private readonly required: TextMatcher,
    private readonly automaton: AutomatonMatcher,
  ) {
    this.needle = required.needle;
  }

  *find(text: string, from: number): Steps<number> {
    for (let start = from; start < text.length; ) {
      const hit = yield* this.required.find(text, start);
      if (hit < 0) return -1;
      const first = yield* lineStart(text, start, hit);
      const feed = text.indexOf('\n', hit);
      const end = feed < 0 ? text.length : feed + 1;
      yield COST_OF_HIT + (end - hit) * COST_OF_LOOKUP;
      const at = yield* this.automaton.findWithin(text, first, end);
      if (at >= 0) return at;
      start = end;
    }
    return -1;
  }
}

/** Matcher for all other expressions. The automaton reads every character of the text. */
class AutomatonMatcher implements LineMatcher {
  #automaton: LineAutomaton | undefined;

  constructor(
    private readonly expression: RE2JS,
    readonly needle?: Needle,
  ) {}

  find(text: string, from: number): Steps<number> {
    return this.findWithin(text, from, text.length);
  }

  /**
   * Like `find`, but searches only from `from` to `to` (exclusive). This part of the text must consist of whole lines.
   */
  *findWithin(text: string, from: number, to: number): Steps<number> {
    if (from >= to) return -1;
    this.#automaton ??= new LineAutomaton(yield* readProgram(this.expression));
    const automaton = this.#automaton;
    if (automaton.matchesAll) return from;
    automaton.begin();
    for (let at = from; at < to && !automaton.isMatched; ) {
      at = automaton.read(text, at, to);
      yield automaton.takeCost();
      if (automaton.isMatched) return at;
    }
    if (text.charCodeAt(to - 1) === LINE_FEED) return -1;
    automaton.readEnd();
    yield automaton.takeCost();
    return automaton.isMatched ? to : -1;
  }
}

const LINE_FEED = 0x0a;

/**
 * Returns the end of a window of whole lines that starts at `start`. The window has at most `size` characters, or one
 * line if the first line is longer.
 */
function* wholeLines(text: string, start: number, size: number): Steps<number> {
  if (text.length - start <= size) return text.length;
  const last = text.slice(start, start + size).lastIndexOf('\n');
  if (last >= 0) return start + last + 1;
  const feed = text.indexOf('\n', start + size);
  const end = feed < 0 ? text.length : feed + 1;
  yield (end - start) * COST_OF_LOOKUP;
  return end;
}

/**
 * Returns the start of the line that contains the character at `at`. `from` must be the start of this line or of an
 * earlier line; the search ends there.
 */
function* lineStart(text: string, from: number, at: number): Steps<number> {
  for (let end = at; end > from; end -= V8_WINDOW) {
    const start = Math.max(from, end - V8_WINDOW);
    const feed = text.slice(start, end).lastIndexOf('\n');
    if (feed >= 0) return start + feed + 1;
    yield (end - start) * COST.byteFound * 2;
  }
  return from;
}
