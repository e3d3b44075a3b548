import { type Side, sideOf } from './compare.js';
import { element, escapeHtml, page } from './html/markup.js';
import { code, inline } from './markdown.js';
import { countsOf, MARKS } from './reporter.js';
import type { Report, RuleResult, Verdict } from './results.js';

/** Table cell: verdict of one rule in one report. */
export interface Cell {
  /** Verdict of the rule. Undefined if the report does not contain the rule. */
  readonly verdict?: Verdict;
  /**
   * Previous verdict, from the nearest report to the left that contains the rule. Undefined if the verdict did not
   * change, or if there is no such report.
   */
  readonly was?: Verdict;
}

/**
 * Table of several reports. Each report is a column, each rule a row. Rows are grouped by section of the specification.
 */
export interface Matrix {
  readonly format: 1;
  readonly columns: readonly Side[];
  readonly sections: readonly {
    readonly section: string;
    /** Verdict counts of the section, such as `2 pass, 1 fail`. One text per report. */
    readonly counts: readonly string[];
    readonly rules: readonly { readonly id: string; readonly says: string; readonly cells: readonly Cell[] }[];
  }[];
  /** Number of cells whose verdict differs from the nearest verdict to the left of it. */
  readonly changes: number;
}

/** Builds the table of several reports. Columns are in the order of `reports`. */
export function matrixOf(reports: readonly Report[]): Matrix {
  const bySection = new Map<string, Map<string, RuleResult>>();
  for (const result of reports.flatMap(({ rules }) => rules)) {
    const rules = bySection.get(result.section) ?? new Map<string, RuleResult>();
    bySection.set(result.section, rules.set(result.id, result));
  }
  const results = reports.map(({ rules }) => new Map(rules.map((result) => [result.id, result])));
  const sections = [...bySection].map(([section, rules]) => ({
    section,
    counts: results.map((byId) => countsOf([...rules.keys()].flatMap((id) => byId.get(id) ?? []))),
    rules: [...rules].map(([id, { says }]) => ({
      id,
      says,
      cells: cellsOf(results.map((byId) => byId.get(id)?.verdict)),
    })),
  }));
  const cells = sections.flatMap(({ rules }) => rules.flatMap((rule) => rule.cells));
  const changes = cells.filter(({ was }) => was !== undefined).length;
  return { format: 1, columns: reports.map(sideOf), sections, changes };
}

function cellsOf(verdicts: readonly (Verdict | undefined)[]): Cell[] {
  let before: Verdict | undefined;
  return verdicts.map((verdict) => {
    if (verdict === undefined) return {};
    const was = before === undefined || before === verdict ? {} : { was: before };
    before = verdict;
    return { verdict, ...was };
  });
}

/** Formats a cell, such as `✗ fail (was pass)`. Returns an empty text if the report does not contain the rule. */
function textOf({ verdict, was }: Cell): string {
  if (verdict === undefined) return '';
  return `${MARKS[verdict]} ${verdict}${was === undefined ? '' : ` (was ${was})`}`;
}

function titleOf({ base_url: url, org, started_at: started }: Side): string {
  return `${url} (${org}), ${started.slice(0, 10)}`;
}

/** Returns a sentence with the number of reports and the number of changed verdicts. */
function conclude({ columns, changes }: Matrix): string {
  return `${columns.length} results; ${changes} verdict${changes === 1 ? '' : 's'} changed from one result to the next.`;
}

/** Renders the table of several reports as GitHub Flavored Markdown. Changed verdicts are bold. */
export function matrixMarkdown(matrix: Matrix): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const lines = [
    row(['Rule', ...matrix.columns.map((side) => inline(titleOf(side)))]),
    row(['---', ...matrix.columns.map(() => '---')]),
    ...matrix.sections.flatMap(({ section, counts, rules }) => [
      row([`**${inline(section)}**`, ...counts]),
      ...rules.map(({ id, cells }) => row([code(id).replaceAll('|', '\\|'), ...cells.map(markdownCell)])),
    ]),
  ];
  return `# Conformance of several deployments\n\n${conclude(matrix)}\n\n${lines.join('\n')}\n`;
}

function markdownCell(cell: Cell): string {
  return cell.was === undefined ? textOf(cell) : `**${textOf(cell)}**`;
}

/** Renders the table of several reports as one HTML page without external files. Changed verdicts are highlighted. */
export function matrixHtml(matrix: Matrix): string {
  const title = 'Conformance of several deployments';
  const heads = ['Rule', ...matrix.columns.map(titleOf)].map((text) => element('th', text, { scope: 'col' }));
  const bodies = matrix.sections.map(({ section, counts, rules }) => {
    const summary = [element('th', section, { scope: 'rowgroup' }), ...counts.map((count) => element('td', count))];
    const rows = rules.map(({ id, says, cells }) => {
      const name = `<th scope="row"><code>${escapeHtml(id)}</code>${element('div', says, { class: 'quiet' })}</th>`;
      return `<tr>${name}${cells.map(htmlCell).join('')}</tr>`;
    });
    return `<tbody><tr>${summary.join('')}</tr>${rows.join('\n')}</tbody>`;
  });
  const body = `<header>${element('h1', title)}
${element('p', conclude(matrix))}</header>
<main id="main" tabindex="-1"><table><thead><tr>${heads.join('')}</tr></thead>
${bodies.join('\n')}</table></main>`;
  return page(title, body);
}

function htmlCell(cell: Cell): string {
  return cell.was === undefined ? element('td', textOf(cell)) : `<td>${element('mark', textOf(cell))}</td>`;
}
