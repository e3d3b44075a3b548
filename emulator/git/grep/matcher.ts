import type { RE2JS } from 're2js';
import { type Cost, costOf, hasPlainEdges, literalOf, requiredText, trimEnds } from './analysis.js';
import { printRe2, printV8 } from './print.js';
import { type Node, parseSyntax } from './syntax.js';

/** An expression that RE2's syntax does not have (look-around, back-references, a slip), or that is too large. */
export class InvalidPattern extends Error {
  override readonly name = 'InvalidPattern';
  constructor(readonly reason: string) {
    super(`invalid pattern: ${reason}`);
  }
}

/** Finds lines in pieces of text that are made of whole lines. Every piece costs time linear in its length. */
export interface LineMatcher {
  /** Characters a piece should have: what takes a few milliseconds at worst. */
  readonly pieceSize: number;
  /** A position inside the first matching line at or after `from`, which is the start of a line; -1 if none is left. */
  find(piece: string, from: number): number;
}

/** The engines that may run an expression, fastest first. */
export interface CompiledPattern {
  /** For any text. */
  readonly any: LineMatcher;
  /** For text without a line above `SHORT_LINE` characters. */
  readonly short: LineMatcher;
}

/** Lines up to this length cost an expression with one unbounded repetition no more than this factor. */
export const SHORT_LINE = 256;

const MAX_PATTERN = 1024;
/** RE2 instructions; the text's length times this bounds what a search may cost. */
const MAX_PROGRAM = 20_000;
/** Steps one call of RE2 may take, about a tenth of a second. A longer line is passed over, as large files are. */
const MAX_STEPS = 20_000_000;

const UNBOUNDED: Cost = { ways: 1, length: 1, loops: Number.POSITIVE_INFINITY };
const PLAIN_TEXT = /^[^\\^$.|?*+()[\]{}\n]+$/;

/**
 * Compiles an expression in RE2's syntax; throws `InvalidPattern`.
 *
 * RE2 is the judge of what an expression means. Where a cheaper engine provably finds the same lines in
 * linear time it does the work: plain text is looked up, and what can only try a bounded number of ways
 * at each position runs on V8.
 */
export async function compilePattern(pattern: string, ignoreCase: boolean): Promise<CompiledPattern> {
  if (pattern.length > MAX_PATTERN) throw new InvalidPattern(`it is longer than ${MAX_PATTERN} characters`);
  if (!ignoreCase && PLAIN_TEXT.test(pattern)) return everywhere(textMatcher(pattern));
  const { RE2JS } = await import('re2js');
  const compile = (source: string) => compileRe2(RE2JS, source, ignoreCase);
  const original = compile(pattern);
  const parsed = parseSyntax(pattern, ignoreCase);
  if (parsed === undefined) return everywhere(re2Matcher(original, undefined, false));

  const node = trimEnds(parsed);
  const text = ignoreCase ? undefined : literalOf(node);
  if (text !== undefined) return everywhere(textMatcher(text));
  const { ways, length, loops } = hasPlainEdges(node, ignoreCase) ? costOf(node) : UNBOUNDED;
  if (loops === 0 && ways * length <= 256) return everywhere(v8Matcher(node, ignoreCase));
  const any = re2Matcher(compile(printRe2(node)), requiredMatcher(requiredText(node), ignoreCase), true);
  return loops === 1 && ways * length <= 32 ? { any, short: v8Matcher(node, ignoreCase) } : everywhere(any);
}

function compileRe2(engine: typeof RE2JS, source: string, ignoreCase: boolean): RE2JS {
  let compiled: RE2JS;
  try {
    compiled = engine.compile(source, ignoreCase ? engine.CASE_INSENSITIVE : 0);
  } catch (error) {
    throw new InvalidPattern(error instanceof Error ? error.message : String(error));
  }
  if (compiled.programSize() > MAX_PROGRAM) throw new InvalidPattern('it is too large');
  return compiled;
}

function everywhere(matcher: LineMatcher): CompiledPattern {
  return { any: matcher, short: matcher };
}

function textMatcher(text: string): LineMatcher {
  return { pieceSize: 1 << 20, find: (piece, from) => piece.indexOf(text, from) };
}

/** Finds text that every match contains. Without regard to case both engines fold characters one to one, as Unicode does. */
function requiredMatcher(text: string, ignoreCase: boolean): LineMatcher | undefined {
  if (text === '') return undefined;
  if (!ignoreCase) return textMatcher(text);
  const parts = Array.from(
    text,
    (char): Node => ({ kind: 'set', ranges: [char.codePointAt(0)!, char.codePointAt(0)!] }),
  );
  return v8Matcher({ kind: 'all', parts }, true);
}

function v8Matcher(node: Node, ignoreCase: boolean): LineMatcher {
  const expression = new RegExp(printV8(node), ignoreCase ? 'giu' : 'gu');
  return {
    pieceSize: 1 << 14,
    find(piece, from) {
      expression.lastIndex = from;
      return expression.exec(piece)?.index ?? -1;
    },
  };
}

/**
 * Tests line by line. With `spansLines` the expression may also be tried on several lines at once, and
 * matches there if and only if it matches one of them. `required` finds what every match contains.
 */
function re2Matcher(expression: RE2JS, required: LineMatcher | undefined, spansLines: boolean): LineMatcher {
  const longest = Math.floor(MAX_STEPS / expression.programSize());
  const hasMatch = (text: string) => text.length <= longest && expression.test(text);
  return {
    pieceSize: 1 << 12,
    find(piece, from) {
      if (required === undefined && spansLines && piece.length - from <= longest) {
        if (!expression.test(piece.slice(from))) return -1;
      }
      for (let start = from; start < piece.length; ) {
        const at = required === undefined ? start : required.find(piece, start);
        if (at < 0) return -1;
        const first = at === start ? start : piece.lastIndexOf('\n', at) + 1;
        const feed = piece.indexOf('\n', at);
        const end = feed < 0 ? piece.length : feed;
        if (hasMatch(piece.slice(first, end))) return at;
        start = end + 1;
      }
      return -1;
    },
  };
}
