import t from 'tap';
import { expectAbsent, expectSame } from './expect.js';
import { AssertionFailure } from './outcomes.js';

t.test('two missing values are not equal', async (t) => {
  t.doesNotThrow(() => expectSame({ a: [1] }, { a: [1] }, 'equal'));
  t.throws(() => expectSame(1, 2, 'another'), AssertionFailure);
  const both = new AssertionFailure('nothing at all', 'a defined value', undefined);
  t.throws(() => expectSame(undefined, undefined, 'nothing at all'), both);
  t.throws(() => expectSame(undefined, 1, 'nothing there'), new AssertionFailure('nothing there', 1, undefined));
});

t.test('expectAbsent accepts only a missing value', async (t) => {
  t.doesNotThrow(() => expectAbsent(undefined, 'no branch'));
  for (const there of [null, '', 'x']) t.throws(() => expectAbsent(there, 'no branch'), AssertionFailure);
});
