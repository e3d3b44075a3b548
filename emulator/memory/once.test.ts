import t from 'tap';
import { once } from './once.js';

t.test('what is made once is made when it is first asked for, also where it is nothing', async (t) => {
  let made = 0;
  const number = once(() => ++made);
  t.equal(made, 0);
  t.same([number(), number(), made], [1, 1, 1]);
  const nothing = once(() => void made++);
  nothing();
  nothing();
  t.equal(made, 2);
});
