import t from 'tap';
import { z } from 'zod';
import { checkItems, checkShape, shapeSteps } from './body.js';
import { atOnce, type JsonSteps } from './json-reader.js';
import type { Problem } from './problem.js';

const FILE = z.object({ path: z.string() });
const COMMIT = z.object({ files: z.array(FILE).optional(), labels: z.record(z.string(), z.number()).nullable() });

const files = (count: number) => Array.from({ length: count }, (_, n): object => ({ path: `f${n}` }));
const labels = (count: number) => Object.fromEntries(files(count).map((_, n): [string, unknown] => [`l${n}`, n]));

function detailOf(call: () => unknown): string {
  try {
    call();
    return 'passed';
  } catch (error) {
    return (error as Problem).detail;
  }
}

/** The value, and the units of each step. */
function inSteps<T>(steps: JsonSteps<T>): { value: T; units: number[] } {
  const units: number[] = [];
  for (;;) {
    const step = steps.next();
    if (step.done) return { value: step.value, units };
    units.push(step.value);
  }
}

t.test('a mistake is told with the place where it is, in lists and records of any length', async (t) => {
  const check = (value: unknown) => detailOf(() => checkShape(COMMIT, value, 'The body'));
  for (const count of [1, 3, 99, 100, 101, 1000]) {
    t.equal(check({ files: files(count), labels: labels(count) }), 'passed', `${count}`);
    for (const at of new Set([0, Math.floor(count / 2), count - 1])) {
      const list = files(count);
      list[at] = { path: at };
      t.match(check({ files: list, labels: null }), new RegExp(`^files\\.${at}\\.path: `), `${at} of ${count} files`);
      const record = { ...labels(count), [`l${at}`]: 'x' };
      t.match(check({ files: [], labels: record }), new RegExp(`^labels\\.l${at}: `), `${at} of ${count} labels`);
    }
  }
  t.match(check({ files: files(200), labels: 'x' }), /^labels: /, 'behind a long list that is right');
  t.match(check('text'), /^The body: /);
  t.equal(check(undefined), 'The body is required.');
  t.same(checkShape(COMMIT, { files: files(200), labels: null, more: 1 }, 'x'), { files: files(200), labels: null });
});

t.test('items that come one by one are checked as those of a list', async (t) => {
  const check = (items: unknown[]) => detailOf(() => atOnce(checkItems(FILE, items, 'files')));
  t.same(atOnce(checkItems(FILE, files(200), 'files')), files(200));
  t.match(check([...files(130), { path: 1 }]), /^files\.130\.path: /);
  t.match(check([null]), /^files\.0: /);
  t.match(check([...files(2), undefined]), /^files\.2: /);
});

t.test('long lists and records are checked in small steps', async (t) => {
  const count = 10_000;
  const works: Record<string, JsonSteps<unknown>> = {
    items: checkItems(FILE, files(count), 'files'),
    list: shapeSteps(COMMIT, { files: files(count), labels: null }, 'The body'),
    record: shapeSteps(COMMIT, { labels: labels(count) }, 'The body'),
  };
  for (const [what, steps] of Object.entries(works)) {
    const { units } = inSteps(steps);
    const all = units.reduce((sum, one) => sum + one, 0);
    t.ok(Math.max(...units) <= 1000, `${what}: ${Math.max(...units)} units at once`);
    t.ok(all >= 0.9 * count, `${what}: ${all} units in all, one for each at least`);
  }
});

t.test('only the first of very many mistakes is worded', async (t) => {
  let looked = 0;
  const word = z.string().refine(() => {
    looked++;
    return false;
  });
  t.match(
    detailOf(() => checkShape(z.object({ words: z.array(word) }), { words: Array(100_000).fill('x') }, 'The body')),
    /^words\.0: /,
  );
  t.ok(looked <= 2, `${looked} words were looked at`);
});
