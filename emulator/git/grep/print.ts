import type { Assertion, Node } from './syntax.js';

/** How an engine writes what has no common form. */
interface Dialect {
  character(code: number): string;
  readonly nothing: string;
  readonly assertions: Readonly<Record<Assertion, string>>;
}

// V8's own multi-line anchors also stop at CR, U+2028 and U+2029. Nothing here may hold between the halves of a
// surrogate pair, where V8 tries empty matches too.
const V8: Dialect = {
  character: (code) => `\\u{${code.toString(16)}}`,
  nothing: '[]',
  assertions: {
    'line-start': '(?:^|(?<=\\n))',
    'line-end': '(?:$|(?=\\n))',
    'word-edge': '\\b',
    'no-word-edge': '\\B',
  },
};

const RE2: Dialect = {
  character: (code) => `\\x{${code.toString(16)}}`,
  nothing: '[^\\x{0}-\\x{10ffff}]',
  assertions: { 'line-start': '(?m:^)', 'line-end': '(?m:$)', 'word-edge': '\\b', 'no-word-edge': '\\B' },
};

/** The expression for V8's `u` mode. */
export function printV8(node: Node): string {
  return print(node, V8);
}

/** The expression in RE2's syntax: over several lines it matches what the original matches in each of them. */
export function printRe2(node: Node): string {
  return print(node, RE2);
}

function print(node: Node, dialect: Dialect): string {
  switch (node.kind) {
    case 'set':
      return printSet(node.ranges, dialect);
    case 'assert':
      return dialect.assertions[node.at];
    case 'all':
      return node.parts
        .map((part) => (part.kind === 'any' ? `(?:${print(part, dialect)})` : print(part, dialect)))
        .join('');
    case 'any':
      return node.parts.map((part) => print(part, dialect)).join('|');
    case 'repeat': {
      const body = node.body.kind === 'set' ? print(node.body, dialect) : `(?:${print(node.body, dialect)})`;
      return `${body}{${node.min},${node.max === Number.POSITIVE_INFINITY ? '' : node.max}}`;
    }
  }
}

function printSet(ranges: readonly number[], dialect: Dialect): string {
  if (ranges.length === 0) return dialect.nothing;
  if (ranges.length === 2 && ranges[0] === ranges[1]) return dialect.character(ranges[0]!);
  let text = '';
  for (let at = 0; at < ranges.length; at += 2) {
    text += `${dialect.character(ranges[at]!)}-${dialect.character(ranges[at + 1]!)}`;
  }
  return `[${text}]`;
}
