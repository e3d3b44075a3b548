import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { LineAutomaton } from './line-automaton.js';
import { readProgram } from './pattern-program.js';

/**
 * Returns the numbers of the lines that the automaton matches. The first line is 0. The automaton reads the text in
 * pieces of `size` characters.
 */
function matchingLines(automaton: LineAutomaton, text: string, size: number): number[] {
  const found: number[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (automaton.matchesAll) return [...lines.keys()];
  let line = 0;
  automaton.begin();
  for (let at = 0; at < text.length; ) {
    const stop = automaton.read(text, at, Math.min(text.length, at + size));
    line += text.slice(at, stop).split('\n').length - 1;
    at = stop;
    if (!automaton.isMatched) continue;
    found.push(line++);
    at = text.indexOf('\n', at) + 1;
    if (at === 0) return found;
    automaton.begin();
  }
  if (text === '' || text.endsWith('\n')) return found;
  automaton.readEnd();
  return automaton.isMatched ? [...found, line] : found;
}

function automatonOf(expression: RE2JS, maxNumbers?: number): LineAutomaton {
  return new LineAutomaton(runSync(readProgram(expression)), maxNumbers);
}

const atom = fc.constantFrom(
  ...['a', 'b', '.', '[ab]', '[^a]', '\\w', '\\W', '\\s', '\\n', 'é', '\\x{1f600}', '[\\s\\S]', '\\b', '\\B', '^', '$'],
  ...[
    '\\A',
    '\\z',
    '(?i:k)',
    '(?i:ſa)',
    '\\p{Lu}',
    '\\PL',
    '\\pN',
    '\\Qa.b\\E',
    '(?s:.)',
    '(?m:^)',
    '(?m:$)',
    '\\C',
    's',
  ],
);
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.array(tie('pattern'), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?', '{0,20}', '{17}'))
      .map(([body, sign]) => `(${body})${sign}`),
  ),
}));
const line = fc.stringMatching(/^[abskSKéÉ1 ſK\u2028\u{1f600}\u{1f601}\r_-]{0,12}$/u);

t.test('the automaton finds the same lines as RE2, for pieces of any size and few cached states', async () => {
  fc.assert(
    fc.property(
      pattern,
      fc.array(line, { maxLength: 8 }),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      (pattern, lines, ignoreCase, endsLines, size) => {
        let expression: RE2JS;
        try {
          expression = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
        } catch {
          return;
        }
        const last = lines.at(-1);
        const text = lines.map((line) => `${line}\n`).join('');
        const searched = endsLines || last === undefined || last === '' ? text : text.slice(0, -1);
        const expected = [...lines.keys()].filter((at) => expression.test(lines[at]!));
        for (const automaton of [automatonOf(expression), automatonOf(expression, 0)]) {
          assert.deepEqual(matchingLines(automaton, searched, size), expected);
          assert.deepEqual(matchingLines(automaton, searched, 1 << 20), expected, 'and a second time');
        }
      },
    ),
    { numRuns: 800, seed: 23 },
  );
});

t.test('the automaton finds the same matches as RE2 in long lines', async () => {
  const part = fc.constantFrom(
    'a',
    'b',
    'ab',
    ' ',
    'x1',
    '\u{1f600}',
    'é',
    '\n',
    'ba'.repeat(900),
    '\u{1f600}'.repeat(1100),
  );
  const patterns = [
    '(a|b)*a(a|b){9}x',
    'a.{30}1',
    '\\bab\\b',
    '\\B\\x{1f600}{1000}a',
    '[^a]{7}$',
    '(?i)A\\pL{3} ',
    '(ba){800,}x',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...patterns), fc.array(part, { minLength: 20, maxLength: 60 }), (pattern, parts) => {
      const expression = RE2JS.compile(pattern);
      const text = parts.join('');
      const lines = text.split('\n');
      if (lines.at(-1) === '') lines.pop();
      const expected = [...lines.keys()].filter((at) => expression.test(lines[at]!));
      for (const automaton of [automatonOf(expression), automatonOf(expression, 0)]) {
        assert.deepEqual(matchingLines(automaton, text, 1 << 20), expected);
      }
    }),
    { numRuns: 30, seed: 29 },
  );
});

t.test('the cached states of the automaton are limited, and its cost is linear', async (t) => {
  const automaton = automatonOf(RE2JS.compile('(a|b)*a(a|b){40}c'));
  let seed = 1;
  const next = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed;
  };
  const text = Array.from({ length: 100_000 }, () => (next() & 0x10000 ? 'a' : 'b')).join('');
  const costs: number[] = [];
  automaton.begin();
  for (let at = 0; at < text.length; ) {
    at = automaton.read(text, at, text.length);
    costs.push(automaton.takeCost());
  }
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  t.ok(total < text.length * 10, `${total} units`);
  t.ok(Math.max(...costs) <= 1_000, `${Math.max(...costs)} units at once`);
});
