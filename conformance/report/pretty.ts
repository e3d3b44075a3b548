import { styleText } from 'node:util';
import { explain, isBroken, type Reporter } from './reporter.js';
import { executed, injected, type Report, type RuleResult, VERDICTS, type Verdict } from './results.js';

const MARKS: Readonly<Record<Verdict, string>> = {
  pass: '✓',
  fail: '✗',
  warn: '!',
  observed: '·',
  variant: '≈',
  skip: '-',
  blocked: '…',
  error: '✗',
  flaky: '?',
};

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Partial<Record<Verdict, Style>>> = {
  pass: 'green',
  fail: 'red',
  error: 'red',
  flaky: 'red',
  warn: 'yellow',
  variant: 'yellow',
};

/** For people: one line a section, everything about what broke, and what it means. */
export function createPretty(color: boolean): Reporter {
  const paint = (style: Style | undefined, text: string) =>
    color && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  return (report) => {
    const lines: string[] = [];
    for (const [section, results] of bySection(report)) {
      const marks = results.map(({ verdict }) => paint(STYLES[verdict], MARKS[verdict])).join('');
      lines.push(`${section.padEnd(26)} ${marks}`);
    }
    for (const verdict of ['warn', 'variant', 'blocked', 'flaky', 'error', 'fail'] as const) {
      for (const result of report.rules.filter((one) => one.verdict === verdict)) {
        lines.push(
          '',
          ...describe(result, isBroken(verdict, report.mode.strict), (text) => paint(STYLES[verdict], text)),
        );
      }
    }
    lines.push(
      '',
      ...skipped(report),
      '',
      ...VERDICTS.flatMap((verdict) => countLine(report, verdict)),
      ...injectedLine(report),
      '',
      conclude(report),
    );
    return `${lines.join('\n')}\n`;
  };
}

function bySection(report: Report): Map<string, RuleResult[]> {
  const sections = new Map<string, RuleResult[]>();
  for (const result of report.rules) {
    const list = sections.get(result.section);
    if (list === undefined) sections.set(result.section, [result]);
    else list.push(result);
  }
  return sections;
}

function describe(result: RuleResult, broken: boolean, paint: (text: string) => string): string[] {
  const lines = [
    paint(`${result.verdict} ${result.id}`),
    `  ${result.level}, ${result.section}: ${result.says}`,
    ...explain(result).map((line) => `  ${line}`),
  ];
  if (!broken) return lines;
  for (const { request, response } of result.transcript ?? []) {
    lines.push(...indent(request, '  > '), ...indent(response, '  < '));
  }
  if (result.curl !== undefined) lines.push(`  $ ${result.curl}`);
  lines.push(`  $ npx conformance run --only ${result.id}`);
  return lines;
}

function indent(text: string, margin: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => margin + line);
}

/** Skipped rules by reason, the commonest first. */
function skipped(report: Report): string[] {
  const reasons = new Map<string, number>();
  for (const { verdict, reason = '' } of report.rules) {
    if (verdict === 'skip') reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons]
    .sort((a, b) => b[1] - a[1])
    .map(([reason, count]) => `skip ${String(count).padStart(4)}  ${reason}`);
}

function countLine(report: Report, verdict: Verdict): string[] {
  const count = report.counts[verdict];
  return count === 0 ? [] : [`${verdict.padEnd(9)}${String(count).padStart(4)}`];
}

/** How much of this says nothing about a service on which nothing fails on purpose. */
function injectedLine(report: Report): string[] {
  const count = injected(report.rules);
  return count === 0
    ? []
    : [`injected ${String(count).padStart(4)}  judged on answers that faults of the emulator made`];
}

function conclude(report: Report): string {
  const judged = `${executed(report.counts)} of ${report.rules.length} rules judged, ${report.requests} requests, ${(report.milliseconds / 1000).toFixed(1)} s`;
  if (report.interrupted) return `Interrupted. ${judged}.`;
  if (executed(report.counts) === 0) return `Nothing was judged: this says nothing about ${report.target.base_url}.`;
  if (report.exit_code === 0)
    return `${report.target.base_url} conforms${report.mode.only === undefined ? '' : ' in what was asked'}. ${judged}.`;
  if (report.exit_code === 3) return `${report.target.base_url} throttled; the run is incomplete. ${judged}.`;
  if (report.exit_code === 4) return `The run broke in places and proves nothing there. ${judged}.`;
  return `${report.target.base_url} does not conform. ${judged}.`;
}
