import type { Test } from 'tap';
import { shuffled } from '../run/shards.js';

const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

/**
 * Returns `count` randomly chosen rows, and prints the seed of the choice. Returns all rows if the environment has
 * `TEST_SAMPLES=all`, as in `.ci/run`. Used for tests in which each row needs a slow run of the suite.
 */
export function sample<Row>(t: Pick<Test, 'comment'>, rows: readonly Row[], count: number): readonly Row[] {
  if (process.env.TEST_SAMPLES === 'all') return rows;
  t.comment(`a sample of ${count} of ${rows.length}; TEST_SEED=${SEED} draws it again`);
  return shuffled(rows, SEED).slice(0, count);
}
