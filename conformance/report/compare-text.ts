import { ABSENT, type Comparison, concludeComparison, type Difference, HEADINGS, showSide } from './compare.js';
import { visible } from './reporter.js';

/** A comparison for people: what changed, by kind, one line each. */
export function compareText(comparison: Comparison): string {
  const { before, after, differences } = comparison;
  const blocks = [
    [
      `before  ${before.base_url} (${before.org}), ${before.started_at}, suite ${before.suite}`,
      `after   ${after.base_url} (${after.org}), ${after.started_at}, suite ${after.suite}`,
    ],
    ...HEADINGS.flatMap(([kind, heading]) => {
      const lines = differences.filter((one) => one.kind === kind).flatMap(describe);
      return lines.length === 0 ? [] : [[heading, ...lines.map((line) => `  ${line}`)]];
    }),
    [concludeComparison(comparison)],
  ];
  return `${blocks.map((lines) => lines.map((line) => visible(line).replaceAll('\n', ' ')).join('\n')).join('\n\n')}\n`;
}

function describe({ kind, id, member, before, after, reason }: Difference): string[] {
  const name = member === undefined ? id : `${id}: ${member}`;
  const absent = ABSENT[kind];
  const lines = [`${name}: ${showSide(before, absent)} -> ${showSide(after, absent)}`];
  if (reason?.before !== undefined) lines.push(`  before: ${reason.before}`);
  if (reason?.after !== undefined) lines.push(`  after: ${reason.after}`);
  return lines;
}
