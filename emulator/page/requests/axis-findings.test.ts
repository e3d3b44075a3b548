import type { ClientVerdict } from '@emulator/admin/verify.js';
import t from 'tap';
import { findingsOf } from './axis-findings.js';

t.test('broken rules are listed by request', async (t) => {
  const verdict = (rule: string, requests: readonly string[], broken = requests.length) => ({
    rule,
    verdict: requests.length > 0 ? 'broken' : 'kept',
    faults: requests.map((request) => ({ request, detail: '' })),
    clients: [{ subject: null, verdict: 'broken', occasions: broken, broken }],
  });
  const given = [verdict('back-off', ['a', 'b', 'a']), verdict('retry-after', ['b']), verdict('git-retry', [])];
  const { rulesOf, broken, isPartial } = findingsOf(given as unknown as ClientVerdict[]);
  t.same(Object.fromEntries(rulesOf), { a: ['back-off'], b: ['back-off', 'retry-after'] });
  t.equal(broken, 2);
  t.equal(isPartial, false);
  t.equal(findingsOf([verdict('back-off', ['a'], 2)] as unknown as ClientVerdict[]).isPartial, true);
});
