import t from 'tap';
import { lazy } from './lazy.js';

t.test('what is made once is made when it is first asked for, also where it is nothing', async (t) => {
  let made = 0;
  const number = lazy(() => ++made);
  t.equal(made, 0);
  t.same([number(), number(), made], [1, 1, 1]);
  const nothing = lazy(() => void made++);
  nothing();
  nothing();
  t.equal(made, 2);
});
