import type { ClientVerdict } from '@emulator/admin/verify.js';
import t from 'tap';
import { isClientLeftOut, summaryClass } from './verdicts.js';

t.test('the summary is green only if rules were kept and none was broken', async (t) => {
  const rule = (verdict: ClientVerdict['verdict'], level: ClientVerdict['level'] = 'must') => ({ verdict, level });
  t.equal(summaryClass([]), undefined);
  t.equal(summaryClass([rule('unseen'), rule('unseen')]), undefined);
  t.equal(summaryClass([rule('kept'), rule('unseen')]), 'passed');
  t.equal(summaryClass([rule('kept'), rule('broken', 'should')]), undefined);
  t.equal(summaryClass([rule('kept'), rule('broken')]), 'failed');
});

t.test('clients are left out if their occasions do not add up to those of the rule', async (t) => {
  const rule = (occasions: number, ...ofClients: readonly number[]) => ({
    occasions,
    clients: ofClients.map((one) => ({ subject: null, verdict: 'kept' as const, occasions: one, broken: 0 })),
  });
  t.equal(isClientLeftOut([rule(0), rule(3, 1, 2)]), false);
  t.equal(isClientLeftOut([rule(0), rule(4, 1, 2)]), true);
});
