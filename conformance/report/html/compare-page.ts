import { type Comparison, concludeComparison, differencesByKind, type ShownDifference } from '../compare.js';
import { element, escapeHtml, page } from './markup.js';

/** Renders a comparison of two reports as one HTML page without external files. */
export function compareHtml(comparison: Comparison): string {
  const { before, after } = comparison;
  const title = `From ${before.base_url} to ${after.base_url}`;
  const sides = [before, after].map(
    (side, at) =>
      `<tr>${element('th', at === 0 ? 'Before' : 'After', { scope: 'row' })}${[side.base_url, side.org, side.started_at, side.suite].map((text) => element('td', text)).join('')}</tr>`,
  );
  const tables = differencesByKind(comparison).map(
    ({
      heading,
      index,
      rows,
    }) => `<section aria-labelledby="kind-${index}"><h2 id="kind-${index}">${escapeHtml(heading)}</h2>
<table><thead><tr><th scope="col">What</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${rows.map(row).join('\n')}</tbody></table></section>`,
  );
  const body = `<header>${element('h1', title)}
${element('p', concludeComparison(comparison))}
<table><thead><tr><th scope="col">Side</th><th scope="col">Target</th><th scope="col">Organization</th><th scope="col">Begun</th><th scope="col">Suite</th></tr></thead>
<tbody>${sides.join('')}</tbody></table></header>
<main id="main" tabindex="-1">${tables.join('\n')}</main>`;
  return page(title, body);
}

function row({ id, says, member, before, after, reason }: ShownDifference): string {
  const name = [
    `<code>${escapeHtml(id)}</code>`,
    ...(member === undefined ? [] : [element('div', member)]),
    ...(says === undefined ? [] : [element('div', says, { class: 'quiet' })]),
  ];
  return `<tr><td>${name.join('')}</td>${cell(before, reason?.before)}${cell(after, reason?.after)}</tr>`;
}

function cell(value: string, reason: string | undefined): string {
  const why = reason === undefined ? '' : element('div', reason, { class: 'quiet' });
  return `<td>${element('code', value)}${why}</td>`;
}
