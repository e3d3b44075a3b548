import type { Test } from 'tap';
import { randomNumbers } from '../git/test/random-numbers.js';

/**
 * True if `TEST_SAMPLES` is `all`. Large tests then run completely. Otherwise, as in `npm test`, they run a random
 * sample and print its seed. `.ci/run` repeats the test files that import this module with complete tests.
 */
export const IS_COMPLETE = process.env.TEST_SAMPLES === 'all';
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

type Printer = Pick<Test, 'comment'>;

/**
 * Returns up to `max` randomly chosen rows in their given order. The seed determines the choice. Returns all rows if
 * tests run completely.
 */
export function sample<Row>(t: Printer, rows: readonly Row[], max: number): readonly Row[] {
  if (IS_COMPLETE || rows.length <= max) return rows;
  t.comment(`a sample of ${max} of ${rows.length}; TEST_SEED=${SEED} draws it again`);
  const draw = randomNumbers(SEED);
  // Choose `max` different indexes with a partial Fisher-Yates shuffle.
  const indexes = rows.map((_, index) => index);
  for (let at = 0; at < max; at++) {
    const other = at + draw(rows.length - at);
    [indexes[at], indexes[other]] = [indexes[other]!, indexes[at]!];
  }
  const drawn = indexes.slice(0, max).sort((a, b) => a - b);
  return drawn.map((index) => rows[index]!);
}

/** Parameters for `fc.check`, `fc.assert` and `fc.sample` of fast-check, a library for random tests. */
export interface Runs {
  readonly seed: number;
  readonly numRuns: number;
  /** Index of the first random run, 0 if absent. */
  readonly path?: string;
}

/**
 * Chooses up to `max` consecutive runs of a random test with `numRuns` runs. Each run has the same values as in the
 * complete test. A sample therefore cannot fail if the complete test passes.
 */
export function sampleRuns(t: Printer, { seed, numRuns }: Runs, max: number): Runs {
  if (IS_COMPLETE || numRuns <= max) return { seed, numRuns };
  const path = String(randomNumbers(SEED)(numRuns - max + 1));
  t.comment(`${max} of ${numRuns} runs, from run ${path}; TEST_SEED=${SEED} draws them again`);
  return { seed, numRuns: max, path };
}
