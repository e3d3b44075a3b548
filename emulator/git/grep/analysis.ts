import type { Node } from './syntax.js';

/**
 * Returns the smallest expression that matches the same lines: `a*bc+` becomes `bc`. Repetitions at both ends are
 * reduced to their minimum number of copies, because a match may start and end anywhere in the line.
 */
export function trimEnds(node: Node): Node {
  let parts = node.kind === 'all' ? [...node.parts] : [node];
  while (parts[0]?.kind === 'repeat' && parts[0].min < parts[0].max)
    parts.splice(0, 1, ...copies(parts[0].body, parts[0].min));
  while (true) {
    const last = parts.at(-1);
    if (last?.kind !== 'repeat' || last.min === last.max) break;
    parts = [...parts.slice(0, -1), ...copies(last.body, last.min)];
  }
  return parts.length === 1 ? parts[0]! : { kind: 'all', parts };
}

function copies(body: Node, count: number): Node[] {
  return count === 0 ? [] : count === 1 ? [body] : [{ kind: 'repeat', body, min: count, max: count }];
}

/** Returns the text that the expression matches, if it consists only of plain characters; otherwise undefined. */
export function literalOf(node: Node): string | undefined {
  const run = literalRuns(node);
  return run.length === 1 && run[0]!.isWhole ? run[0]!.text : undefined;
}

/** Returns the longest known text that every match of the expression contains; an empty string if none is known. */
export function requiredText(node: Node): string {
  let longest = '';
  for (const { text } of literalRuns(node)) if (text.length > longest.length) longest = text;
  return longest;
}

function literalRuns(node: Node): { text: string; isWhole: boolean }[] {
  const parts = node.kind === 'all' ? node.parts : [node];
  const runs: { text: string; isWhole: boolean }[] = [];
  let text = '';
  let taken = 0;
  for (const part of parts) {
    if (part.kind === 'set' && part.ranges.length === 2 && part.ranges[0] === part.ranges[1]) {
      text += String.fromCodePoint(part.ranges[0]!);
      taken++;
      continue;
    }
    if (text !== '') runs.push({ text, isWhole: false });
    text = '';
  }
  if (text !== '') runs.push({ text, isWhole: taken === parts.length });
  return runs;
}

/**
 * Returns true if V8 and RE2 find the same word boundaries (`\b`, `\B`) for an expression. They can differ in two
 * cases. If case is ignored, V8 counts U+017F and U+212A as letters. For `\B`, V8 finds a position inside a surrogate
 * pair.
 */
export function hasPlainEdges(node: Node, ignoreCase: boolean): boolean {
  switch (node.kind) {
    case 'set':
      return true;
    case 'assert':
      return node.at !== 'no-word-edge' && !(ignoreCase && node.at === 'word-edge');
    case 'repeat':
      return hasPlainEdges(node.body, ignoreCase);
    default:
      return node.parts.every((part) => hasPlainEdges(part, ignoreCase));
  }
}

export interface Cost {
  /**
   * Maximum number of alternatives that a backtracking engine tries at one position of the text. Infinite for an
   * unbounded repetition.
   */
  readonly ways: number;
  /**
   * Maximum number of characters that one alternative consumes. An unbounded repetition counts as one copy of its
   * content.
   */
  readonly length: number;
}

/** Returns the worst-case work of a backtracking engine at one position of the text. */
export function costOf(node: Node): Cost {
  switch (node.kind) {
    case 'set':
    case 'assert':
      return { ways: 1, length: 1 };
    case 'all':
      return node.parts
        .map(costOf)
        .reduce((total, { ways, length }) => ({ ways: total.ways * ways, length: total.length + length }), {
          ways: 1,
          length: 0,
        });
    case 'any':
      return node.parts
        .map(costOf)
        .reduce((total, { ways, length }) => ({ ways: total.ways + ways, length: Math.max(total.length, length) }), {
          ways: 0,
          length: 0,
        });
    case 'repeat': {
      const { min, max } = node;
      const body = costOf(node.body);
      if (max === Number.POSITIVE_INFINITY) return { ways: max, length: body.length };
      return { ways: body.ways ** Math.max(max, 1) * (max - min + 1), length: body.length * max };
    }
  }
}
