import fc from 'fast-check';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { bytesOf } from './bytes.js';
import { byBytes, sortInSteps } from './sort.js';

t.test('sorting in steps is stable and gives the same result as sort', (t) => {
  for (const size of [0, 1, 4096, 4097, 30_000]) {
    const [items] = fc.sample(fc.array(fc.nat(size), { minLength: size, maxLength: size, size: 'max' }), {
      numRuns: 1,
      seed: size,
    }) as [number[]];
    const pairs = items.map((value, index) => ({ value, index }));
    const compare = (a: { value: number }, b: { value: number }) => a.value - b.value;
    const steps = sortInSteps(pairs, compare);
    let count = 0;
    for (let step = steps.next(); !step.done; step = steps.next()) count++;
    t.equal(count > 0, size > 4096, `${size} items in ${count + 1} steps`);
    const shown = (sorted: readonly { index: number }[]) => sorted.map(({ index }) => index).join();
    t.ok(shown(runSync(sortInSteps(pairs, compare))) === shown([...pairs].sort(compare)), 'the same order');
  }
  t.same(['b', 'a/', 'a', 'é', 'B'].map(bytesOf).sort(byBytes), ['B', 'a', 'a/', 'b', 'é'].map(bytesOf));
  t.end();
});
