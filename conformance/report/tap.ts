import { describeRule, describeRun, type Reporter, show, tooFewChecked, visible } from './reporter.js';
import { executed, VERDICTS } from './results.js';

/**
 * Renders a report in TAP version 14. Each rule is one test point. A rule that was not checked is a skipped test with a
 * reason.
 */
export const tap: Reporter = (report) => {
  const { setup, remarks, coverage } = describeRun(report);
  const tooFew = tooFewChecked(report);
  const points = [...report.rules, ...setup];
  const lines = [
    'TAP version 14',
    `1..${points.length}`,
    ...[...coverage, ...remarks].map((remark) => `# ${oneLine(remark)}`),
  ];
  points.forEach((result, index) => {
    const { isBroken, baseline, nearest, repeat } = describeRule(report, result);
    const unchecked = result.verdict === 'skip' || result.verdict === 'blocked';
    const isExpected = result.baseline?.state === 'expected';
    const directive = unchecked
      ? ` # SKIP ${escapeTap(result.reason ?? result.verdict)}`
      : // TAP calls a failure that is expected and does not fail the run `TODO` (TAP 14, directives).
        isExpected
        ? ` # TODO ${escapeTap(baseline.join())}`
        : '';
    lines.push(
      `${isBroken || isExpected ? 'not ok' : 'ok'} ${index + 1} - ${escapeTap(`${result.id}: ${result.says}`)}${directive}`,
    );
    const isInjected = result.evidence === 'injected';
    const isUnproven = result.unproven === true;
    if (unchecked || (result.verdict === 'pass' && !isInjected && !isUnproven && !isBroken)) return;
    const { expected, actual, observed } = result;
    const isCompared = expected !== undefined;
    const differences = isBroken ? nearest.map((line) => `\n    - ${quoted(line)}`) : [];
    const members: readonly (readonly [name: string, value: string | undefined])[] = [
      ['verdict', result.verdict],
      ['level', result.level],
      ['section', quoted(result.section)],
      ['evidence', result.evidence],
      ['unproven', isUnproven ? 'true' : undefined],
      ['reason', quoted(result.reason)],
      ['expected', isCompared ? quoted(show(expected)) : undefined],
      ['actual', isCompared ? quoted(show(actual)) : undefined],
      ...baseline.map((line) => ['baseline', quoted(line)] as const),
      ['observed', JSON.stringify(observed)],
      ['nearest', differences.join('') || undefined],
      ['curl', isBroken ? quoted(result.curl) : undefined],
      ['repeat', isBroken ? quoted(repeat) : undefined],
    ];
    lines.push('  ---');
    for (const [name, value] of members)
      if (value !== undefined) lines.push(`  ${name}:${value.startsWith('\n') ? '' : ' '}${value}`);
    lines.push('  ...');
  });
  lines.push(`# ${VERDICTS.map((verdict) => `${verdict} ${report.counts[verdict]}`).join(', ')}`);
  if (report.interrupted) lines.push('Bail out! interrupted');
  else if (report.ended !== undefined) lines.push(`Bail out! ${oneLine(report.ended.reason)}`);
  else if (executed(report.counts) === 0) lines.push('Bail out! no rule was checked');
  else if (tooFew !== undefined) lines.push(`Bail out! ${tooFew}`);
  return `${lines.join('\n')}\n`;
};

/** Escapes `\` and `#` in a test point's description, as TAP 14 requires. Line breaks become spaces. */
function escapeTap(text: string): string {
  return oneLine(text).replace(/[\\#]/g, '\\$&');
}

function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ');
}

/**
 * Formats a text as a double-quoted YAML string. Uses `JSON.stringify`, because JSON strings are valid YAML. Returns
 * undefined if there is no text.
 */
function quoted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify(text);
}
