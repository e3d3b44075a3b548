import t from 'tap';
import { expectAbsent, expectSame } from './expect.js';
import { AssertionFailure } from './outcomes.js';

t.test('what is missing on both sides is not the same', async (t) => {
  t.doesNotThrow(() => expectSame({ a: [1] }, { a: [1] }, 'equal'));
  t.throws(() => expectSame(1, 2, 'another'), AssertionFailure);
  t.throws(() => expectSame(undefined, undefined, 'nothing at all'), { expected: 'something to compare with' });
  t.throws(() => expectSame(undefined, 1, 'nothing there'), { expected: 1 });
});

t.test('what has to be missing is', async (t) => {
  t.doesNotThrow(() => expectAbsent(undefined, 'no branch'));
  for (const there of [null, '', 'x']) t.throws(() => expectAbsent(there, 'no branch'), AssertionFailure);
});
