import type { Test } from 'tap';
import type { Report } from '../../index.js';
import { explain } from '../../report/reporter.js';

/** Asserts that the suite finds nothing wrong. */
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

/** Asserts that no rule is broken. Behaviour that the specification supports less well is a warning or a variant. */
export function expectLegal(t: Test, report: Report): void {
  const broken = report.rules.filter(({ verdict }) => ['fail', 'error', 'flaky', 'blocked'].includes(verdict));
  t.same(
    broken.map((result) => [result.id, result.verdict, ...explain(result)]),
    [],
  );
  t.equal(report.exit_code, 0);
}
