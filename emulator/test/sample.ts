import type { Test } from 'tap';
import { randomNumbers } from '../git/test/random-numbers.js';

/**
 * True if large tests run completely, because `TEST_SAMPLES` is `all`. Otherwise they run a sample, drawn by a seed
 * that they print. `npm test` runs samples; `.ci/run` then runs the test files that import this module completely.
 */
export const IS_COMPLETE = process.env.TEST_SAMPLES === 'all';
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

type Printer = Pick<Test, 'comment'>;

/** Draws at most `max` rows, in their order. Returns all rows if the tests run completely. */
export function sample<Row>(t: Printer, rows: readonly Row[], max: number): readonly Row[] {
  if (IS_COMPLETE || rows.length <= max) return rows;
  t.comment(`a sample of ${max} of ${rows.length}; TEST_SEED=${SEED} draws it again`);
  const draw = randomNumbers(SEED);
  // The start of a Fisher-Yates shuffle.
  const indexes = rows.map((_, index) => index);
  for (let at = 0; at < max; at++) {
    const other = at + draw(rows.length - at);
    [indexes[at], indexes[other]] = [indexes[other]!, indexes[at]!];
  }
  const drawn = indexes.slice(0, max).sort((a, b) => a - b);
  return drawn.map((index) => rows[index]!);
}

/** Parameters of `fc.check`, `fc.assert` and `fc.sample`. */
export interface Runs {
  readonly seed: number;
  readonly numRuns: number;
  /** Index of the first run; 0 if absent. */
  readonly path?: string;
}

/**
 * Draws at most `max` consecutive runs of a property that has `numRuns`. They are the same runs that the complete
 * property has at these indexes, so a sample cannot fail where the complete property passes.
 */
export function sampleRuns(t: Printer, { seed, numRuns }: Runs, max: number): Runs {
  if (IS_COMPLETE || numRuns <= max) return { seed, numRuns };
  const path = String(randomNumbers(SEED)(numRuns - max + 1));
  t.comment(`${max} of ${numRuns} runs, from run ${path}; TEST_SEED=${SEED} draws them again`);
  return { seed, numRuns: max, path };
}
