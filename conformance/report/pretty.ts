import { styleText } from 'node:util';
import {
  brokenRules,
  bySection,
  conclude,
  explain,
  explainNearest,
  MARKS,
  MEANINGS,
  measure,
  type Reporter,
  remarks,
  repeatCommand,
  unproven,
  visible,
} from './reporter.js';
import { injected, type Report, type RuleResult, VERDICTS, type Verdict } from './results.js';

type Style = Parameters<typeof styleText>[0];
type Paint = (verdict: Verdict, text: string) => string;

const STYLES: Readonly<Partial<Record<Verdict, Style>>> = {
  pass: 'green',
  fail: 'red',
  error: 'red',
  flaky: 'red',
  warn: 'yellow',
  variant: 'yellow',
};

/** So many broken rules are shown with what was sent; of the others what broke. */
const MOST_TRANSCRIPTS = 20;

/** For people: what broke, what else was seen, one line a section, and what it means. */
export function createPretty(color: boolean): Reporter {
  const paint: Paint = (verdict, text) => {
    const style = STYLES[verdict];
    return color && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  };
  return (given) => {
    // Before anything is painted: colours are control characters as well.
    const report = visibleReport(given);
    const broken = brokenRules(report);
    const others = (['blocked', 'warn', 'variant'] as const).flatMap((verdict) =>
      report.rules.filter((result) => result.verdict === verdict && !broken.includes(result)),
    );
    const blocks = [
      ...broken.map((result, at) => describeBroken(report, result, paint, at < MOST_TRANSCRIPTS)),
      ...others.map((result) => describe(result, paint)),
      ...(broken.length > MOST_TRANSCRIPTS
        ? [
            [
              `Of ${broken.length} broken rules the first ${MOST_TRANSCRIPTS} are shown in full; all are with --reporter html.`,
            ],
          ]
        : []),
      [...sections(report, paint), '', legend(report, paint)],
      skipped(report),
      [...VERDICTS.flatMap((verdict) => countLine(report, verdict)), ...injectedLine(report), ...unprovenLine(report)],
      remarks(report),
      [`${conclude(report)} ${measure(report)}`],
    ];
    const texts = blocks.filter((block) => block.length > 0).map((block) => block.join('\n'));
    return `${texts.join('\n\n')}\n`;
  };
}

/** The report with every control character in words, so that a terminal obeys none that a target sent. */
function visibleReport(report: Report): Report {
  return JSON.parse(JSON.stringify(report), (_name, value: unknown) =>
    typeof value === 'string' ? visible(value) : value,
  );
}

function describe(result: RuleResult, paint: Paint): string[] {
  return [
    paint(result.verdict, `${result.verdict} ${result.id}`),
    `  ${result.level}, ${result.section}: ${result.says}`,
    ...explain(result).map((line) => `  ${line}`),
  ];
}

function describeBroken(report: Report, result: RuleResult, paint: Paint, isWhole: boolean): string[] {
  const lines = describe(result, paint);
  if (isWhole) {
    for (const { request, response } of result.transcript ?? []) {
      lines.push(...indent(request, '  > '), ...indent(response, '  < '));
    }
    lines.push(...explainNearest(result).map((line) => `  ${line}`));
    if (result.curl !== undefined) lines.push(`  $ ${result.curl}`);
  }
  const command = repeatCommand(report, result.id);
  if (command !== undefined) lines.push(`  $ ${command}`);
  return lines;
}

function indent(text: string, margin: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => margin + line);
}

function sections(report: Report, paint: Paint): string[] {
  return [...bySection(report)].map(([section, results]) => {
    const marks = results.map(({ verdict }) => paint(verdict, MARKS[verdict])).join('');
    const counts = VERDICTS.flatMap((verdict) => {
      const count = results.filter((result) => result.verdict === verdict).length;
      return count === 0 ? [] : [`${count} ${verdict}`];
    });
    return `${section.padEnd(26)} ${counts.join(', ')}  ${marks}`;
  });
}

/** The marks that stand above it, and no others. */
function legend(report: Report, paint: Paint): string {
  const shown = VERDICTS.filter((verdict) => report.counts[verdict] > 0);
  return shown.map((verdict) => `${paint(verdict, MARKS[verdict])} ${verdict}: ${MEANINGS[verdict]}`).join('\n');
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

function unprovenLine(report: Report): string[] {
  const count = unproven(report);
  return count === 0 ? [] : [`unproven ${String(count).padStart(4)}  MUST rules that no mutant has been seen to break`];
}
