import type { Test } from 'tap';

const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

/**
 * Draws up to `max` rows at random and returns them in their order. Prints the seed, so that a failure can be repeated.
 * Returns all rows if `TEST_SAMPLES=all`, as `.ci/run` sets it. Repeats the code of `emulator/test/sample.ts`, because
 * the page imports nothing from other folders.
 */
export function sample<Row>(t: Pick<Test, 'comment'>, rows: readonly Row[], max: number): readonly Row[] {
  if (process.env.TEST_SAMPLES === 'all' || rows.length <= max) return rows;
  t.comment(`a sample of ${max} of ${rows.length}; TEST_SEED=${SEED} draws it again`);
  const indexes = rows.map((_, index) => index);
  let state = SEED >>> 0;
  while (indexes.length > max) {
    // Linear congruential generator of the next random number.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    indexes.splice(Math.floor((state / 2 ** 32) * indexes.length), 1);
  }
  return indexes.map((index) => rows[index]!);
}
