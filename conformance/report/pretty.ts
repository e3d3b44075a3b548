import { styleText } from 'node:util';
import { type Alike, countReasons, groupAlike, withVerdict } from './alike.js';
import { profileLines } from './profile-results.js';
import {
  countsOf,
  describeRule,
  describeRun,
  enumerate,
  explainBaseline,
  MARKS,
  MAX_CURL,
  MEANINGS,
  type Reporter,
  show,
  THE_RUN,
  visible,
} from './reporter.js';
import { type Report, type RuleResult, VERDICTS, type Verdict } from './results.js';

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

/**
 * Maximum number of rules that are shown one by one; applies to broken rules and to other findings separately. Above
 * this number, rules with equal results are grouped.
 */
const MAX_RULES = 20;
/**
 * Maximum number of broken rules that are shown one by one if the run ended early. It is small, because the reason of
 * the end matters more.
 */
const MAX_OF_ENDED = 3;
/**
 * Maximum number of groups of equal results. `MAX_BROKEN_KINDS` applies if broken rules are grouped, `MAX_OTHER_KINDS`
 * if only other findings are grouped.
 */
const MAX_BROKEN_KINDS = 6;
const MAX_OTHER_KINDS = 40;
/** Maximum number of lines of a request or response if results are grouped. */
const MAX_LINES = 16;
/** Maximum number of reasons in the list for skipped rules, and in the list for blocked rules. */
const MAX_REASONS = 12;

/**
 * Creates the reporter for a terminal. It shows the broken rules, the other findings, one line per section of the
 * specification, and the conclusion. `color`: true to use colours.
 */
export function createPretty(color: boolean): Reporter {
  const paint: Paint = (verdict, text) => {
    const style = STYLES[verdict];
    return color && style !== undefined ? styleText(style, text, { validateStream: false }) : text;
  };
  return (given) => {
    // Replace control characters before adding colours, because colours are control characters too.
    const report = visibleReport(given);
    const { broken, tally, remarks, conclusion, measure, coverage } = describeRun(report);
    const others = (['warn', 'variant'] as const).flatMap((verdict) =>
      report.rules.filter((result) => result.verdict === verdict && !broken.includes(result)),
    );
    const blocks = [
      coverage,
      ...(broken.length > (report.ended === undefined ? MAX_RULES : MAX_OF_ENDED)
        ? describeMany(report, broken, others, paint)
        : [
            ...broken.map((result) => describeBroken(report, result, paint)),
            ...(others.length > MAX_RULES
              ? describeKinds(groupAlike(others), MAX_OTHER_KINDS, paint)
              : others.map((result) => describe(report, result, paint))),
          ]),
      [...sections(report, paint), '', legend(report, paint)],
      [...unchecked(report, 'blocked'), ...unchecked(report, 'skip')],
      tally.map(tallyLine),
      profileLines(report),
      remarks,
      [`${conclusion} ${measure}`],
    ];
    const texts = blocks.filter((block) => block.length > 0).map((block) => block.join('\n'));
    return `${texts.join('\n\n')}\n`;
  };
}

/**
 * Returns a copy of the report in which visible text replaces control characters. Otherwise text from the target could
 * control the terminal.
 */
function visibleReport(report: Report): Report {
  return JSON.parse(JSON.stringify(report), (_name, value: unknown) =>
    typeof value === 'string' ? visible(value) : value,
  );
}

function describe(report: Report, result: RuleResult, paint: Paint): string[] {
  const { headline, facts } = describeRule(report, result);
  return [
    paint(result.verdict, `${result.verdict} ${result.id}`),
    `  ${headline}`,
    ...facts.map((line) => `  ${line}`),
  ];
}

function describeBroken(report: Report, result: RuleResult, paint: Paint): string[] {
  const { transcript = [], curl } = result;
  const { nearest, repeat } = describeRule(report, result);
  const lines = describe(report, result, paint);
  for (const { request, response } of transcript) {
    lines.push(...indent(request, '  > '), ...indent(response, '  < '));
  }
  lines.push(...nearest.map((line) => `  ${line}`));
  if (curl !== undefined) {
    lines.push(
      curl.length > MAX_CURL ? `  the curl command has ${curl.length} characters; see --reporter json` : `  $ ${curl}`,
    );
  }
  if (repeat !== undefined) lines.push(`  $ ${repeat}`);
  return lines;
}

/**
 * Describes a run that has too many broken rules to show them all. Shows one broken rule with its request, then groups
 * of equal results.
 */
function describeMany(
  report: Report,
  broken: readonly RuleResult[],
  others: readonly RuleResult[],
  paint: Paint,
): string[][] {
  const [first, ...more] = broken;
  const isStep = ({ section }: RuleResult) => section === THE_RUN;
  const kinds = [
    ...groupAlike(more.filter(isStep)),
    ...groupAlike(more.filter((result) => !isStep(result))),
    ...groupAlike(others),
  ];
  return [
    ...(first === undefined ? [] : [describeBroken(report, shorten(first), paint)]),
    ...describeKinds(kinds, MAX_BROKEN_KINDS, paint),
  ];
}

/** Returns the result with only its last request and response. Each is cut to `MAX_LINES` lines. */
function shorten(result: RuleResult): RuleResult {
  const cut = (text: string) => {
    const lines = text.trimEnd().split('\n');
    if (lines.length <= MAX_LINES) return text;
    return [...lines.slice(0, MAX_LINES), `… (${lines.length - MAX_LINES} more lines)`].join('\n');
  };
  const shown = (result.transcript ?? []).slice(-1);
  return {
    ...result,
    transcript: shown.map(({ request, response }) => ({ request: cut(request), response: cut(response) })),
  };
}

function describeKinds(kinds: readonly Alike[], max: number, paint: Paint): string[][] {
  const remaining = kinds.slice(max).reduce((sum, { ids }) => sum + ids.length, 0);
  return [
    kinds.slice(0, max).flatMap((kind) => describeAlike(kind, paint)),
    [
      ...(remaining === 0 ? [] : [`${remaining} more rules have other reasons.`]),
      'All rules with their requests and responses: --reporter html. A single rule: --only ID.',
    ],
  ];
}

function describeAlike({ first, ids }: Alike, paint: Paint): string[] {
  const { verdict, reason, expected, actual } = first;
  const facts = [
    ...(reason === undefined ? [] : [show(reason)]),
    ...(expected === undefined ? [] : [`expected ${show(expected)}, actual ${show(actual)}`]),
    ...explainBaseline(first),
  ];
  const count = ids.length === 1 ? '' : ` ${ids.length} times`;
  return [`${paint(verdict, `${verdict}${count}`)}  ${facts.join(': ')}`, `  ${enumerate(ids, 5)}`];
}

function indent(text: string, margin: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => margin + line);
}

function sections(report: Report, paint: Paint): string[] {
  return [...describeRun(report).sections].map(([section, results]) => {
    const marks = results.map(({ verdict }) => paint(verdict, MARKS[verdict])).join('');
    return `${section.padEnd(26)} ${countsOf(results)}  ${marks}`;
  });
}

/** Returns one line per verdict that occurs in the report: its mark, name and meaning. */
function legend(report: Report, paint: Paint): string {
  const shown = VERDICTS.filter((verdict) => report.counts[verdict] > 0);
  return shown.map((verdict) => `${paint(verdict, MARKS[verdict])} ${verdict}: ${MEANINGS[verdict]}`).join('\n');
}

/** Lists the reasons for the verdict `skip` or `blocked`, each with its number of rules. */
function unchecked(report: Report, verdict: 'skip' | 'blocked'): string[] {
  const reasons = countReasons(withVerdict(report, verdict));
  const others = reasons.slice(MAX_REASONS).reduce((sum, [, count]) => sum + count, 0);
  return [
    ...reasons.slice(0, MAX_REASONS),
    ...(others === 0 ? [] : [[`${reasons.length - MAX_REASONS} other reasons`, others] as const]),
  ].map(([reason, count]) => `${verdict.padEnd(7)} ${String(count).padStart(4)}  ${show(reason)}`);
}

/** Formats one count as a line. Lines of verdicts have no explanation, because the legend explains verdicts. */
function tallyLine({ name, mark, count, means }: ReturnType<typeof describeRun>['tally'][number]): string {
  return `${name.padEnd(9)}${String(count).padStart(4)}${mark === undefined ? `  ${means}` : ''}`;
}
