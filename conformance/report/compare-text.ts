import { type Comparison, concludeComparison, differencesByKind, type ShownDifference } from './compare.js';
import { visible } from './reporter.js';

/** Formats a comparison of two reports as text. Differences are grouped by kind, one per line. */
export function compareText(comparison: Comparison): string {
  const { before, after } = comparison;
  const blocks = [
    [
      `before  ${before.base_url} (${before.org}), ${before.started_at}, suite ${before.suite}`,
      `after   ${after.base_url} (${after.org}), ${after.started_at}, suite ${after.suite}`,
    ],
    ...differencesByKind(comparison).map(({ heading, rows }) => [
      heading,
      ...rows.flatMap(describe).map((line) => `  ${line}`),
    ]),
    [concludeComparison(comparison)],
  ];
  return `${blocks.map((lines) => lines.map((line) => visible(line).replaceAll('\n', ' ')).join('\n')).join('\n\n')}\n`;
}

function describe({ id, member, before, after, reason }: ShownDifference): string[] {
  const name = member === undefined ? id : `${id}: ${member}`;
  const lines = [`${name}: ${before} -> ${after}`];
  if (reason?.before !== undefined) lines.push(`  before: ${reason.before}`);
  if (reason?.after !== undefined) lines.push(`  after: ${reason.after}`);
  return lines;
}
