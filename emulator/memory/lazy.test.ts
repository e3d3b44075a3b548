import t from 'tap';
import { lazy } from './lazy.js';

t.test('a lazy value is created at the first access, even if it is undefined', async (t) => {
  let made = 0;
  const number = lazy(() => ++made);
  t.equal(made, 0);
  t.same([number(), number(), made], [1, 1, 1]);
  const nothing = lazy(() => void made++);
  nothing();
  nothing();
  t.equal(made, 2);
});
