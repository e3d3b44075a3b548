import type { Node } from './syntax.js';

/**
 * The part of an expression that decides whether a line has a match at all: repetitions at either end
 * shrink to what they have to match, since a search may start and stop anywhere in the line.
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

/** The text that an expression is, if it is nothing but text. */
export function literalOf(node: Node): string | undefined {
  const run = literalRuns(node);
  return run.length === 1 && run[0]!.isWhole ? run[0]!.text : undefined;
}

/** The longest text that every match contains; empty where there is none. */
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
 * Whether V8 may decide the edges of words that an expression asks for. Without regard to case it counts
 * U+017F and U+212A among the letters, which RE2 does not; and it finds `\B` inside a surrogate pair.
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
  /** Ways a backtracking engine may try at one position, unbounded repetitions counted once. */
  readonly ways: number;
  /** Characters one way may look at, unbounded repetitions counted by their minimum. */
  readonly length: number;
  /** Unbounded repetitions of single characters; infinite where something longer is repeated without bound. */
  readonly loops: number;
}

/** What an expression can cost a backtracking engine at one position of the text. */
export function costOf(node: Node): Cost {
  switch (node.kind) {
    case 'set':
    case 'assert':
      return { ways: 1, length: 1, loops: 0 };
    case 'all': {
      const costs = node.parts.map(costOf);
      return {
        ways: product(costs.map((cost) => cost.ways)),
        length: sum(costs, 'length'),
        loops: sum(costs, 'loops'),
      };
    }
    case 'any': {
      const costs = node.parts.map(costOf);
      const length = costs.reduce((longest, cost) => Math.max(longest, cost.length), 0);
      return { ways: sum(costs, 'ways'), length, loops: sum(costs, 'loops') };
    }
    case 'repeat': {
      const body = costOf(node.body);
      if (node.max !== Number.POSITIVE_INFINITY) {
        const ways =
          body.ways === 1 ? node.max - node.min + 1 : body.ways ** Math.max(node.max, 1) * (node.max - node.min + 1);
        return { ways, length: body.length * node.max, loops: body.loops === 0 ? 0 : Number.POSITIVE_INFINITY };
      }
      return { ways: 1, length: node.min, loops: node.body.kind === 'set' ? 1 : Number.POSITIVE_INFINITY };
    }
  }
}

function sum(costs: readonly Cost[], key: keyof Cost): number {
  return costs.reduce((total, cost) => total + cost[key], 0);
}

function product(values: readonly number[]): number {
  return values.reduce((total, value) => total * value, 1);
}
