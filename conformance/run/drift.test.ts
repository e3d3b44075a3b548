import t from 'tap';
import type { RuleResult, Verdict } from '../report/results.js';
import { settleVariants, withoutDrift } from './drift.js';

function resultOf(id: string, variants: Record<string, string>, verdict: Verdict = 'pass'): RuleResult {
  const row = { section: 'Errors', says: 'It holds.', level: 'MUST', reach: 'any', read_only: true } as const;
  return { ...row, id, verdict, milliseconds: 1, requests: 1, variants };
}

const results = [
  resultOf('a', { A01: '403', A02: 'x' }),
  resultOf('b', { A01: '401' }),
  resultOf('c', { A01: '403' }),
  resultOf('d', { A01: '401' }, 'fail'),
  { ...resultOf('e', { A02: 'y' }, 'variant'), level: 'SHOULD' as const, reason: 'another reading' },
];

t.test('the first recorded choice of a target binds all later responses', async (t) => {
  const { results: settled, variants } = settleVariants(results);
  t.same(
    settled.map(({ id, verdict }) => `${id}: ${verdict}`),
    ['a: pass', 'b: fail', 'c: pass', 'd: fail', 'e: warn'],
  );
  t.match(settled[1], {
    reason: 'A01: must be the same in all responses (see a)',
    expected: '403',
    actual: '401',
  });
  t.equal(settled[3], results[3], 'what was broken before keeps its reason');
  t.same(variants, { A01: '403', A02: 'x' });
});

t.test('a recorded choice can be replaced', async (t) => {
  const { results: settled } = settleVariants(results);
  t.same(settled.map(withoutDrift), results);
  t.same(
    settleVariants([resultOf('0', { A01: '401' }), ...settled]).results.map(({ verdict }) => verdict),
    ['pass', 'fail', 'pass', 'fail', 'fail', 'warn'],
  );
});
