import type { Assertion, Node } from './syntax.js';

// V8 syntax for the conditions. V8's `m` flag is not used, because `^` and `$` would then also match at CR, U+2028 and
// U+2029. The syntax must not match inside a surrogate pair, where V8 tries empty matches.
const ASSERTIONS: Readonly<Record<Assertion, string>> = {
  'line-start': '(?:^|(?<=\\n))',
  'line-end': '(?:$|(?=\\n))',
  'word-edge': '\\b',
  'no-word-edge': '\\B',
};

/**
 * Returns the source of an equivalent regular expression for V8 with the `u` flag. In a text of several lines, it finds
 * the same matches that the original finds in each single line.
 */
export function printV8(node: Node): string {
  switch (node.kind) {
    case 'set':
      return printSet(node.ranges);
    case 'assert':
      return ASSERTIONS[node.at];
    case 'all':
      return node.parts.map((part) => (part.kind === 'any' ? `(?:${printV8(part)})` : printV8(part))).join('');
    case 'any':
      return node.parts.map(printV8).join('|');
    case 'repeat': {
      const body = node.body.kind === 'set' ? printV8(node.body) : `(?:${printV8(node.body)})`;
      return `${body}{${node.min},${node.max === Number.POSITIVE_INFINITY ? '' : node.max}}`;
    }
  }
}

function printSet(ranges: readonly number[]): string {
  if (ranges.length === 0) return '[]';
  if (ranges.length === 2 && ranges[0] === ranges[1]) return printCharacter(ranges[0]!);
  let text = '';
  for (let at = 0; at < ranges.length; at += 2) {
    text += `${printCharacter(ranges[at]!)}-${printCharacter(ranges[at + 1]!)}`;
  }
  return `[${text}]`;
}

function printCharacter(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
