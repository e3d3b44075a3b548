import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { compilePattern, InvalidPattern } from './matcher.js';
import { patternSize } from './pattern-size.js';
import { UNLIMITED } from './test/as-git-grep.js';
import { searchPage, textCache } from './test/search-page.js';

/** Maximum cost in work units between two calls of the meter. At each call, a search can yield to other requests. */
const PIECE = 1_000;
/** Maximum cost in work units of copying a text. The copy does not yield to other requests. */
const COPY = 4_100;
const PATTERNS = [
  ['(a?){900}[0-9]', false],
  ['(a|aa)+$', false],
  ['.*.*.*=.*', false],
  ['(x+x+)+y', false],
  ['[^\\n]{0,1000}z', false],
  ['[\\p{Lu}k]+0', true],
  ['[^\\PLa]{3,40}9', true],
  ['\\b(a|b)*\\B.{300}!', false],
  ['^.*a.{400}$0', false],
  ['a?a?a?a?a?9', true],
  [`${'a'.repeat(300)}b`, false],
  [`b${'a'.repeat(240)}`, false],
  ['[a-c]{60}9', true],
  ['é.*9', false],
] as const;
const TEXTS: Readonly<Record<string, string>> = {
  'one line of 16 MiB': 'a'.repeat(16 << 20),
  'short lines': 'a b aa\n'.repeat((1 << 20) / 7),
  'lines of 200': `${'a'.repeat(199)}\n`.repeat(80_000),
  'other letters': '\xc3\xa9a\xf0\x9f\x98\x80 '.repeat(1 << 17),
  'line feeds': '\n'.repeat(4 << 20),
};

t.test('no search delays others, for any pattern and text', async (t) => {
  const objects = new MemoryObjects();
  for (const [name, text] of Object.entries(TEXTS)) {
    const tree = objects.tree({ f: text });
    const cache = textCache(objects, 1 << 28);
    // Search for two patterns in a file that is not cached. A filter on the file's bytes excludes the first pattern
    // without decoding the text. The second pattern needs the text.
    for (const pattern of ['nothing', '[0-9]n']) {
      const cold = new Schedule({ now: () => 0 });
      await searchPage(cache, tree, { pattern }, UNLIMITED, new Meter({ schedule: cold }));
      t.ok(
        cold.longestSlice <= SLICE + COPY + PIECE,
        `${name}, read for the first time: ${cold.longestSlice} units at once`,
      );
    }
    for (const [pattern, ignoresCase] of PATTERNS) {
      const schedule = new Schedule({ now: () => 0 });
      const meter = new Meter({ schedule, limit: 30 });
      const query = { pattern, caseSensitive: !ignoresCase, before: 1, after: 1 };
      const failure: unknown = await searchPage(cache, tree, query, UNLIMITED, meter).then(
        () => undefined,
        (error: unknown) => error,
      );
      t.ok(failure === undefined || failure instanceof WorkLimitExceeded, `${name}, /${pattern}/: ${String(failure)}`);
      t.ok(schedule.longestSlice <= SLICE + PIECE, `${name}, /${pattern}/: ${schedule.longestSlice} units at once`);
      t.ok(schedule.spent <= 30_000 + SLICE + PIECE, `${name}, /${pattern}/: ${schedule.spent} units`);
      if (name !== 'short lines' && name !== 'line feeds')
        t.ok(schedule.spent > 20, `${schedule.spent} units are counted`);
    }
  }
});

t.test('a line of any length is searched', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ f: `${'ab'.repeat(1 << 20)}${'\n'}${'ab'.repeat(1 << 20)}c9\n` });
  for (const pattern of ['(a|ab|b)*c9$', 'b[cd]9', '(?i)C9', '[^c]*cd*9', 'a.{10,20}c', '\\bab.*9\\b', 'bc9']) {
    const page = await searchPage(textCache(objects), tree, { pattern }, UNLIMITED, unlimited());
    t.same(
      page.files.map(({ lines }) => lines.map(({ number, text }) => [number, text.length])),
      [[[2, (2 << 20) + 2]]],
      pattern,
    );
  }
});

t.test('a search ends within a time slice after its client disconnected', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ f: TEXTS['one line of 16 MiB']! });
  const schedule = new Schedule({ now: () => 0 });
  const controller = new AbortController();
  const meter = new Meter({ schedule, signal: controller.signal });
  const searching = searchPage(textCache(objects), tree, { pattern: '(a?){900}[0-9]' }, UNLIMITED, meter);
  let atDeparture = 0;
  const leave = (): void => {
    if (schedule.spent < 3 * SLICE) return void setImmediate(leave);
    atDeparture = schedule.spent;
    controller.abort(new Error('gone'));
  };
  setImmediate(leave);
  await t.rejects(searching, { message: 'gone' });
  t.ok(atDeparture > 0 && schedule.spent - atDeparture <= SLICE + PIECE, `${schedule.spent - atDeparture} units more`);
});

t.test('the size of a compiled expression is estimated before compiling', async (t) => {
  const { RE2JS } = await import('re2js');
  const fair = [
    'foo',
    '(a?){900}[0-9]',
    '(abc|def|ghi){1000}',
    '[a-z]{3,50}',
    '.{1000}',
    'a|b|c',
    '((a*)*)*',
    '(?i)foo',
    'x{2,}',
  ];
  for (const pattern of fair) {
    const real = RE2JS.compile(pattern).programSize();
    const estimate = patternSize(pattern, false);
    t.ok(estimate * 2 + 8 >= real && estimate <= real * 2 + 8, `/${pattern}/: ${estimate}, ${real} instructions`);
  }
  const tooLarge = [
    '(a?){999}'.repeat(100),
    '\\Q[\\E(a?){999}'.repeat(60),
    '[(]{1000}'.repeat(100),
    '(?i)[B-\u{1e900}]'.repeat(60),
    '(?i)[\\x{42}-\\x{1e900}]'.repeat(40),
    '\\pL'.repeat(330),
    '[\\pL\\PN]'.repeat(100),
    `[${'\\PL'.repeat(300)}]`,
  ];
  for (const pattern of tooLarge) {
    await t.rejects(compilePattern(pattern, true, unlimited()), InvalidPattern, pattern.slice(0, 20));
  }
});
