import type { Test } from 'tap';
import { shuffled } from '../run/shards.js';

const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

/**
 * Draws `count` of the rows by a seed, and prints the seed. Returns all rows with `TEST_SAMPLES=all`, as `.ci/run` sets
 * it. For rows that each need a run of the suite.
 */
export function sample<Row>(t: Pick<Test, 'comment'>, rows: readonly Row[], count: number): readonly Row[] {
  if (process.env.TEST_SAMPLES === 'all') return rows;
  t.comment(`a sample of ${count} of ${rows.length}; TEST_SEED=${SEED} draws it again`);
  return shuffled(rows, SEED).slice(0, count);
}
