import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { lossOf } from './no-response.js';

t.test('an AbortSignal that timed out counts as a late response', async (t) => {
  const signal = AbortSignal.timeout(1);
  while (!signal.aborted) await delay(1);
  t.same(lossOf(signal.reason), { kind: 'late', seen: 'no response before the timeout' });
  t.same(lossOf(signal.reason, true), { kind: 'late', seen: 'timed out while receiving the response' });
});
