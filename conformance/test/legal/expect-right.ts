import type { Test } from 'tap';
import type { Report } from '../../index.js';
import { explain } from '../../report/reporter.js';

/** Asserts that no rule of the report failed, warned, was flaky or was blocked, and that no check crashed (`error`). */
export function expectRight(t: Test, report: Report, title: string): void {
  const complaints = report.rules.filter(({ verdict }) =>
    ['fail', 'warn', 'error', 'flaky', 'blocked'].includes(verdict),
  );
  t.same(
    complaints.map((result) => [result.id, result.verdict, ...explain(result)]),
    [],
    title,
  );
  t.equal(report.exit_code, 0, `${title}: exit code`);
}

/**
 * Asserts that the report shows no broken rule. Warnings are allowed, because they concern behaviour that the
 * specification only recommends.
 */
export function expectLegal(t: Test, report: Report): void {
  const broken = report.rules.filter(({ verdict }) => ['fail', 'error', 'flaky', 'blocked'].includes(verdict));
  t.same(
    broken.map((result) => [result.id, result.verdict, ...explain(result)]),
    [],
  );
  t.equal(report.exit_code, 0);
}
