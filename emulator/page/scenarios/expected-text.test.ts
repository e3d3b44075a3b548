import t from 'tap';
import { foundText } from './expected-text.js';

t.test('what was found depends on what is expected', async (t) => {
  for (const [at, found, text] of [
    ['requests.0', 0, 'found 0'],
    ['requests.10', 1_234, 'found 1,234'],
    ['faults.client.1', 1, 'fired once'],
    ['faults.f', 0, 'fired 0 times'],
    ['client.retry-after', 0, 'not applicable yet'],
    ['client.retry-after', 1, 'applied to 1 request'],
    ['client.retry-after', 2, 'applied to 2 requests'],
  ] as const)
    t.equal(foundText({ at, found }), text);
});
