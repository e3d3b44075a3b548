import type { Test } from 'tap';
import { shuffled } from '../run/shards.js';

const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

/**
 * Returns `count` randomly chosen rows and prints the seed. Used where each row needs a slow run of the suite. With
 * `TEST_SAMPLES=all` in the environment, as in `.ci/run`, returns all rows.
 */
export function sample<Row>(t: Pick<Test, 'comment'>, rows: readonly Row[], count: number): readonly Row[] {
  if (process.env.TEST_SAMPLES === 'all') return rows;
  t.comment(`a sample of ${count} of ${rows.length}; TEST_SEED=${SEED} draws it again`);
  return shuffled(rows, SEED).slice(0, count);
}
