import t from 'tap';
import { merged } from './sorted.js';

t.test('two lists are merged in ascending order', (t) => {
  const merge = (many: number[], few: number[]) => [...merged(Int32Array.from(many), Int32Array.from(few))];
  t.same(merge([1, 4, 9], [0, 2, 3, 12]), [0, 1, 2, 3, 4, 9, 12]);
  t.same(merge([], [1, 2]), [1, 2]);
  t.same(merge([1, 2], []), [1, 2]);
  t.same(merge([1, 2], [5, 6]), [1, 2, 5, 6]);
  t.end();
});
