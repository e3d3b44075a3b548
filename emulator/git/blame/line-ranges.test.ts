import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { runSync } from '../../schedule/steps.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { LineInterner } from '../diff/line-interner.js';
import { BadLineRange, parseLineRanges } from './line-ranges.js';

/**
 * Maximum cost in work units between two calls of the meter. At each call, a long search can yield to other requests.
 */
const PIECE = 1_000;
const HOSTILE = [
  '(a?){900}[0-9]',
  '(a|aa)+[0-9]$',
  '.*.*.*=.*',
  '(x+x+)+y',
  '[^\\n]{0,900}z',
  '(?i)[\\p{Lu}k]+0',
  '\\b(a|b)*\\B.{300}!',
  '^.*a.{400}$0',
  'x*',
];
const TEXTS = {
  'one line of 1 MiB': `first\n${'a'.repeat(1 << 20)}`,
  'many short lines': `${'abab aa\n'.repeat(1 << 17)}`,
  'line feeds': '\n'.repeat(1 << 19),
  'lines of 200': `${'a'.repeat(199)}\n`.repeat(5_000),
};

const split = (text: string) => runSync(new LineInterner().split(Buffer.from(text)));

t.test('an expensive expression in a range yields to other requests and ends at the limit', async (t) => {
  for (const [name, text] of Object.entries(TEXTS)) {
    const lines = split(text);
    for (const pattern of HOSTILE) {
      for (const ranges of [[`/${pattern}/`], [`^/${pattern}/`], [`:${pattern}`], [`1,/${pattern}/`]]) {
        const schedule = new Schedule({ now: () => 0 });
        const meter = new Meter({ schedule, limit: 300 });
        const failure: unknown = await parseLineRanges(ranges, lines, meter).catch((error: unknown) => error);
        const isKnown =
          Array.isArray(failure) || failure instanceof BadLineRange || failure instanceof WorkLimitExceeded;
        t.ok(isKnown, `${name}, ${ranges[0]}: ${String(failure)}`);
        if (pattern !== 'x*')
          t.ok(schedule.spent > SLICE / 4, `${name}, ${ranges[0]}: ${schedule.spent} units are counted`);
        t.ok(schedule.longestSlice <= SLICE + PIECE, `${name}, ${ranges[0]}: ${schedule.longestSlice} units at once`);
      }
    }
  }
});

t.test('sixteen expensive ranges yield to other requests and can be aborted', async (t) => {
  const lines = split(TEXTS['one line of 1 MiB']);
  const schedule = new Schedule({ now: () => 0 });
  const ranges = Array.from({ length: 16 }, () => '^/a(a?){900}$/');
  await parseLineRanges(ranges, lines, new Meter({ schedule })).catch(() => undefined);
  t.ok(schedule.longestSlice <= SLICE + PIECE, `${schedule.longestSlice} units at once`);
  const signal = AbortSignal.abort(new Error('gone'));
  await t.rejects(parseLineRanges(ranges, lines, new Meter({ schedule, signal })), { message: 'gone' });
});

t.test('an expression matches within a line, as with REG_NEWLINE', async (t) => {
  const lines = split('one\ntwo x\n\n  three\nfour');
  const found = async (...ranges: string[]) =>
    (await parseLineRanges(ranges, lines, unlimited())).map(({ start, end }) => [start + 1, end]);
  t.same(await found('/[^q]*x/,+1'), [[2, 2]]);
  t.same(await found('/^$/,+1'), [[3, 3]]);
  t.same(await found('/r$/,+1'), [[5, 5]]);
  t.same(await found('/\\bthree/,/f/'), [[4, 5]]);
  t.same(await found(':t'), [[2, 4]]);
  t.same(await found(':our$'), [[5, 5]]);
  t.same(await found('/x*/,+1'), [[1, 1]]);
  await t.rejects(found('/one\\ntwo/'), BadLineRange);
  await t.rejects(found(`/${'(a?){999}'.repeat(100)}/`), BadLineRange, 'too large to compile');
  await t.rejects(found(`/${'a'.repeat(1025)}/`), BadLineRange, 'too long');
});
