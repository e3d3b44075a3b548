import { countReasons, withVerdict } from './alike.js';
import { describeRule, describeRun, type Reporter } from './reporter.js';
import type { Report, RuleResult } from './results.js';

/**
 * Renders a report as workflow commands of GitHub Actions, one per line. GitHub shows them as annotations on the
 * workflow run. Example:
 *
 *     ::error title=jwt.alg.none::MUST, Token header: …%0Aexpected 403
 */
export const github: Reporter = (report) => {
  const { broken, unproven, conclusion, measure, remarks, coverage } = describeRun(report);
  const lines = [
    ...coverage.map((line) => annotation('notice', 'Not everything is checked', line)),
    ...broken.map((result) => annotation('error', result.id, describe(report, result))),
  ];
  for (const result of report.rules) {
    const isOpen = ['warn', 'variant'].includes(result.verdict) && !report.mode.strict;
    if (isOpen) lines.push(annotation('warning', result.id, describe(report, result)));
  }
  for (const [reason, count] of countReasons(withVerdict(report, 'blocked'))) {
    lines.push(annotation('warning', 'Not checked', `${count} rule${count === 1 ? '' : 's'}: ${reason}`));
  }
  const kind = report.exit_code === 0 ? 'notice' : 'error';
  const proof = unproven === 0 ? [] : [`${unproven} MUST rules are unproven: no mutant in the test suite breaks them.`];
  lines.push(annotation(kind, 'Conformance', [conclusion, measure, ...proof, ...remarks].join(' ')));
  return `${lines.join('\n')}\n`;
};

function describe(report: Report, result: RuleResult): string {
  const { headline, facts, nearest, unproven, repeat = [] } = describeRule(report, result);
  return [headline, facts, nearest, unproven, repeat].flat().join('\n');
}

function annotation(kind: 'error' | 'warning' | 'notice', title: string, message: string): string {
  return `::${kind} title=${escapeProperty(title)}::${escapeData(message)}`;
}

/** Escapes the message of a workflow command (the text after the second `::`), as the package `@actions/core` does. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/**
 * Escapes a property of a workflow command, such as the title. Also escapes commas and colons, because they end a
 * property.
 */
function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
