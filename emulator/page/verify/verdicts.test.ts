import type { ClientVerdict } from '@emulator/admin/verify.js';
import t from 'tap';
import { summaryClass } from './verdicts.js';

t.test('the summary is green only if rules were kept and none was broken', async (t) => {
  const rule = (verdict: ClientVerdict['verdict'], level: ClientVerdict['level'] = 'must') => ({ verdict, level });
  t.equal(summaryClass([]), undefined);
  t.equal(summaryClass([rule('unseen'), rule('unseen')]), undefined);
  t.equal(summaryClass([rule('kept'), rule('unseen')]), 'passed');
  t.equal(summaryClass([rule('kept'), rule('broken', 'should')]), undefined);
  t.equal(summaryClass([rule('kept'), rule('broken')]), 'failed');
});
