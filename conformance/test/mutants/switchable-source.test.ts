import t from 'tap';
import { writeSwitchable } from './switchable-source.js';

const SOURCE = `
const LIMIT = 5;
export function sum(values, from = LIMIT) {
  let total = 0;
  for (const value of values) {
    if (value < from) continue;
    total += value;
  }
  const shown = String(total);
  return { total, shown };
}
export const first = (list) => list[0] ?? 'none';
`;

/** Loads a module with one mutant (deliberate mistake) switched on. None is on if the name is empty. */
async function load(text: string, mutant: string): Promise<Record<string, (...args: unknown[]) => unknown>> {
  const source = `const isMutantOn = (name) => name === ${JSON.stringify(mutant)};${text}`;
  return import(`data:text/javascript,${encodeURIComponent(source)}`);
}

const TEXTS = [
  { mutant: 'value', find: "'none'", replace: 'undefined' },
  { mutant: 'operator', find: 'value < from', replace: 'value <= from' },
  { mutant: 'statement', find: 'if (value < from) continue;', replace: '' },
  { mutant: 'declaration', find: 'const shown = String(total);', replace: "const shown = '#' + total;" },
  { mutant: 'several', find: 'total += value;\n  }\n  const shown', replace: 'total -= value; }\n const shown' },
  { mutant: 'member', find: 'total, shown', replace: 'total: -1, shown' },
];

t.test('several mutants can patch one module, also nested ones', async (t) => {
  const { text, stale } = writeSwitchable('sum.js', SOURCE, TEXTS);
  t.same(stale, []);
  const expected: Record<string, [number, string, unknown]> = {
    '': [18, '18', 'none'],
    value: [18, '18', undefined],
    operator: [13, '13', 'none'],
    statement: [20, '20', 'none'],
    declaration: [18, '#18', 'none'],
    several: [-18, '-18', 'none'],
    member: [-1, '18', 'none'],
  };
  for (const [mutant, [total, shown, none]] of Object.entries(expected)) {
    const { sum, first } = await load(text, mutant);
    t.same([sum?.([2, 5, 6, 7]), first?.([])], [{ total, shown }, none], mutant || 'without any');
  }
});

t.test('a patch whose text is not found is reported as stale, with its mutant and file', async (t) => {
  for (const [find, replace, why] of [
    ['no such text', '', 'is not there'],
    ['', 'x', 'is not there'],
    ['total', 'x', 'is there more than once'],
    ['const LIMIT = 5;', 'const LIMIT = 6;', 'is no JavaScript there, or in no function'],
    ['from = LIMIT', 'from = 6', 'is no JavaScript there, or in no function'],
    ['value < from', 'value <', 'is no JavaScript there'],
  ] as const) {
    const { stale, text } = writeSwitchable('sum.js', SOURCE, [{ mutant: 'bad', find, replace }]);
    t.equal(text, SOURCE);
    t.match(stale, [new RegExp(`^the mutant bad is stale: in sum.js, .*${why}`)], find);
  }
});

t.test('a mutant with one text inside the statement of another is stale', async (t) => {
  const texts = [
    { mutant: 'both', find: 'const shown = String(total);', replace: "const shown = '';" },
    { mutant: 'both', find: 'value < from', replace: 'value <= from' },
  ];
  const { stale } = writeSwitchable('sum.js', SOURCE, texts);
  t.same(stale, ['the mutant both is stale: in sum.js, one of its texts is switched together with another of them']);
});
