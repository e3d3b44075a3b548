import { countReasons, withVerdict } from './alike.js';
import { profileResults } from './profile-results.js';
import {
  countsOf,
  describeRule,
  describeRun,
  isPartial,
  MARKS,
  MAX_CURL,
  type Reporter,
  show,
  visible,
} from './reporter.js';
import type { Report, RuleResult } from './results.js';

/** Maximum number of broken rules that are shown with their requests. A GitHub step summary may have at most 1 MB. */
const MAX_SHOWN = 40;

/**
 * Renders a report as GitHub Flavored Markdown: a badge, the counts, the broken rules, and one line per section of the
 * specification.
 */
export const markdown: Reporter = (report) => {
  const { broken, conclusion, measure, coverage, remarks } = describeRun(report);
  const blocks = [
    `# Conformance of ${inline(report.target.base_url)}`,
    ...coverage.map((line) => inline(line)),
    ...(isPartial(report) ? [] : [badge(report)]),
    ...profileBadges(report),
    `**${inline(conclusion)}** ${inline(measure)}`,
    ...remarks.map((remark) => inline(remark)),
    ['| Verdict | Rules | |', '| --- | ---: | --- |', ...countRows(report)].join('\n'),
    ...(broken.length === 0 ? [] : ['## Broken']),
    ...broken.slice(0, MAX_SHOWN).map((result) => describe(report, result)),
    ...(broken.length <= MAX_SHOWN
      ? []
      : [
          broken
            .slice(MAX_SHOWN)
            .map(({ id }) => `- ${code(id)}`)
            .join('\n'),
        ]),
    ...warnings(report),
    '## Sections',
    ['| Section | Checked as |', '| --- | --- |', ...sectionRows(report)].join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
};

function countRows(report: Report): string[] {
  return describeRun(report).tally.map(
    ({ mark, name, count, means }) => `| ${mark === undefined ? '' : `${mark} `}${name} | ${count} | ${means} |`,
  );
}

function sectionRows(report: Report): string[] {
  return [...describeRun(report).sections].map(
    ([section, results]) => `| ${inline(section)} | ${countsOf(results, (verdict) => `${MARKS[verdict]} `)} |`,
  );
}

function describe(report: Report, result: RuleResult): string {
  const { id, verdict, level, section, says, reason, expected, actual, transcript = [] } = result;
  const { baseline, nearest, unproven, repeat } = describeRule(report, result);
  const facts = [
    ...(reason === undefined ? [] : [`- ${inline(reason)}`]),
    ...(expected === undefined ? [] : [`- expected ${code(show(expected))}`, `- actual ${code(show(actual))}`]),
    ...[...baseline, ...nearest].map((line) => `- ${inline(line)}`),
    ...unproven.map((line) => `- ${line}`),
  ];
  const commands = [
    ...(result.curl === undefined || result.curl.length > MAX_CURL ? [] : [result.curl]),
    ...(repeat === undefined ? [] : [repeat]),
  ];
  const shown = transcript.slice(-2).map(({ request, response }) => `${request.trimEnd()}\n\n${response.trimEnd()}`);
  return [
    `### ${MARKS[verdict]} ${code(id)}`,
    `${level}, ${inline(section)}: ${inline(says)}`,
    ...(facts.length === 0 ? [] : [facts.join('\n')]),
    ...(commands.length === 0 ? [] : [fence(commands.join('\n'), 'sh')]),
    ...(shown.length === 0
      ? []
      : ['<details><summary>Requests and responses</summary>', fence(shown.join('\n\n'), 'http'), '</details>']),
  ].join('\n\n');
}

/** Formats findings that do not make the run fail. Rules that could not be checked are grouped by reason. */
function warnings(report: Report): string[] {
  const seen = report.rules.filter(({ verdict }) => ['warn', 'variant'].includes(verdict) && !report.mode.strict);
  const lines = [
    ...countReasons(withVerdict(report, 'blocked')).map(
      ([reason, count]) => `- ${MARKS.blocked} ${count} blocked: ${inline(show(reason))}`,
    ),
    ...seen.map(({ id, verdict, reason = '' }) => `- ${MARKS[verdict]} ${code(id)}: ${inline(show(reason))}`),
  ].slice(0, 100);
  return lines.length === 0 ? [] : ['## Also seen', lines.join('\n')];
}

/** Returns the badge (image) of a complete run. The badge shows requirement level, mode and date. */
function badge(report: Report): string {
  const date = report.started_at.slice(0, 10);
  const { fail, flaky, warn } = report.counts;
  const broken = fail + flaky;
  const level = `${warn === 0 ? 'MUST and SHOULD' : 'MUST'}, ${report.mode.write ? 'read and write' : 'read only'}`;
  const message = `${broken === 0 ? level : `${broken} broken`}, ${date}`;
  return badgeImage('conformance', message, broken === 0);
}

/**
 * Returns one badge for each profile. A profile is a part of the specification that a deployment can offer without the
 * other parts. A profile gets no badge if the report lacks some of its rules, or if none of them was checked.
 */
function profileBadges(report: Report): string[] {
  const shown = profileResults(report).filter(({ verdict }) => verdict !== 'not checked');
  const badges = shown.map(({ profile, verdict, checked, total }) =>
    badgeImage(`conformance: ${profile}`, `${verdict}, ${checked} of ${total} rules`, verdict === 'conforms'),
  );
  return badges.length === 0 ? [] : [badges.join('\n')];
}

/** Returns Markdown for a badge image of shields.io. The badge is green if `isGood`, otherwise red. */
function badgeImage(label: string, message: string, isGood: boolean): string {
  const escaped = (text: string) => encodeURIComponent(text.replaceAll('-', '--').replaceAll('_', '__'));
  const color = isGood ? 'brightgreen' : 'red';
  return `![${label[0]?.toUpperCase()}${label.slice(1)}: ${message}](https://img.shields.io/badge/${escaped(label)}-${escaped(message)}-${color})`;
}

/** Escapes text for one line of Markdown, so that none of it is read as markup. */
export function inline(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/[\\`*_{}[\]|~@$]/g, '\\$&');
}

/** Formats text as inline code. The delimiter is one backtick longer than the longest run of backticks in the text. */
export function code(text: string): string {
  const shown = visible(text).replace(/\s+/g, ' ');
  const ticks = '`'.repeat(longestRun(shown) + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${shown}${pad}${ticks}`;
}

function fence(text: string, language: string): string {
  const ticks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}${language}\n${visible(text)}\n${ticks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
