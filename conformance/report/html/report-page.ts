import { profileResults } from '../profile-results.js';
import { countsOf, describeRule, describeRun, MARKS, MEANINGS, type Reporter, THE_RUN } from '../reporter.js';
import { injected, type Report, type RuleResult, VERDICTS, type Verdict } from '../results.js';
import { element, escapeHtml, page } from './markup.js';

const LEVELS = ['MUST', 'SHOULD', 'MAY', 'UNSPECIFIED'] as const;

/**
 * Renders a report as one HTML page without external files. The page shows each rule with its verdict, by section of
 * the specification.
 */
export const html: Reporter = (report) => {
  const title = `Conformance of ${report.target.base_url}`;
  return page(title, [head(report, title), controls(report), contents(report), rules(report)].join('\n'));
};

/**
 * Returns the CSS class of a verdict. The verdict `skip` has a different class name, because the class `skip` belongs
 * to the skip link at the top of the page.
 */
function classOf(verdict: Verdict): string {
  return verdict === 'skip' ? 'skip-verdict' : verdict;
}

function head(report: Report, title: string): string {
  const { target, suite, specification, started_at: started, mode } = report;
  const { remarks, unproven, conclusion, measure, coverage } = describeRun(report);
  const facts = [
    ['Target', target.base_url],
    ['Git', target.git_url],
    ['Organization', target.org],
    ['Begun', started],
    ['Checked by', `${suite.name} ${suite.version}, specification ${specification}`],
    ['Mode', [mode.write ? 'read and write' : 'read only', ...(mode.strict ? ['strict'] : [])].join(', ')],
    ...(mode.only === undefined ? [] : [['Rules', mode.only]]),
    ...(mode.git_client === undefined ? [] : [['Git client', mode.git_client]]),
    ...(mode.profiles === undefined ? [] : [['Profiles', mode.profiles.join(', ')]]),
  ];
  const rows = facts.map(
    ([name = '', value = '']) => `<tr>${element('th', name, { scope: 'row' })}${element('td', value)}</tr>`,
  );
  const notes = [
    ...remarks,
    ...(injected(report.rules) > 0
      ? [`${injected(report.rules)} checked on responses that a fault of the emulator produced`]
      : []),
    ...(unproven > 0 ? [`${unproven} MUST rules unproven: no mutant in the test suite breaks them`] : []),
  ];
  return `<header>
${element('h1', title)}
${coverage.map((line) => element('p', line)).join('')}
<p><strong class="${report.exit_code === 0 ? 'pass' : 'fail'}">${escapeHtml(conclusion)}</strong> ${escapeHtml(measure)}</p>
${notes.map((note) => element('p', note, { class: 'quiet' })).join('\n')}
<table><caption hidden>The run</caption><tbody>${rows.join('')}</tbody></table>
${profiles(report)}
${broken(report)}
</header>`;
}

/**
 * Renders the results of the profiles as a table. A profile is a part of the specification that a deployment can offer
 * without the other parts.
 */
function profiles(report: Report): string {
  const results = profileResults(report);
  if (results.length === 0) return '';
  const rows = results.map(({ profile, verdict, checked, total }) => {
    const kind = { conforms: 'pass', 'does not conform': 'fail', 'not checked': 'quiet' }[verdict];
    const cells = [element('td', verdict, { class: kind }), element('td', `${checked} of ${total}`)];
    return `<tr>${element('th', profile, { scope: 'row' })}${cells.join('')}</tr>`;
  });
  return `<h2>Profiles</h2>
<table><thead><tr><th scope="col">Profile</th><th scope="col">Result</th><th scope="col">Rules checked</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`;
}

function broken(report: Report): string {
  const { broken: list } = describeRun(report);
  if (list.length === 0) return '';
  const items = list.map(
    ({ id, verdict, says }) =>
      `<li>${mark(verdict)} <a href="#${escapeHtml(encodeURIComponent(`rule-${id}`))}">${escapeHtml(id)}</a> ${escapeHtml(says)}</li>`,
  );
  return `<h2>Broken</h2>\n<ul>${items.join('\n')}</ul>`;
}

function mark(verdict: Verdict): string {
  return `<span class="${classOf(verdict)}"><span aria-hidden="true">${MARKS[verdict]}</span> ${verdict}</span>`;
}

function controls(report: Report): string {
  const verdicts = describeRun(report).tally.flatMap(({ name, mark, count, means }) =>
    mark === undefined ? [] : [button('verdict', name, `${mark} ${name} ${count}`, ` title="${escapeHtml(means)}"`)],
  );
  const levels = LEVELS.flatMap((level) => {
    const count = report.rules.filter((rule) => rule.level === level).length;
    return count === 0 ? [] : [button('level', level, `${level} ${count}`)];
  });
  return `<form class="controls" role="search">
<p><label>Search <input type="search" autocomplete="off" spellcheck="false"></label> <span class="quiet">or press /</span></p>
<fieldset><legend>Verdict</legend>${verdicts.join('')}</fieldset>
<fieldset><legend>Level</legend>${levels.join('')}</fieldset>
<p><button type="button" id="reset">Show all</button> <output id="shown" aria-live="polite">${report.rules.length} of ${report.rules.length} shown</output></p>
</form>`;
}

function button(filter: string, value: string, label: string, title = ''): string {
  return `<button type="button" aria-pressed="false" data-filter="${filter}" data-value="${value}"${title}>${label}</button>`;
}

function anchorOf(index: number): string {
  return `section-${index + 1}`;
}

function contents(report: Report): string {
  const items = [...describeRun(report).sections].map(([section, results], index) => {
    const marks = results.map(({ verdict }) => `<span class="${classOf(verdict)}">${MARKS[verdict]}</span>`).join('');
    return `<tr><td><a href="#${anchorOf(index)}">${escapeHtml(section)}</a></td><td>${escapeHtml(countsOf(results))}</td><td class="marks" aria-hidden="true">${marks}</td></tr>`;
  });
  const legend = VERDICTS.filter((verdict) => report.counts[verdict] > 0).map(
    (verdict) => `<li>${mark(verdict)}: ${escapeHtml(MEANINGS[verdict])}</li>`,
  );
  return `<nav aria-label="Sections">
<table><thead><tr><th scope="col">Section</th><th scope="col">Checked as</th><th scope="col">Rules</th></tr></thead>
<tbody>${items.join('\n')}</tbody></table>
</nav>
<details><summary>What the marks mean</summary><ul>${legend.join('')}</ul></details>`;
}

function rules(report: Report): string {
  const { setup, sections: bySection } = describeRun(report);
  const all = [...(setup.length === 0 ? [] : [[THE_RUN, setup] as const]), ...bySection];
  const sections = all.map(([section, results]) => {
    const index = [...bySection.keys()].indexOf(section);
    const rows = results.map((result) => rule(report, result)).join('\n');
    const id = anchorOf(index);
    return `<section data-section aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(section)}</h2>
<p class="quiet">${escapeHtml(countsOf(results))}</p>
${rows}</section>`;
  });
  return `<main id="main" tabindex="-1">\n${sections.join('\n')}\n</main>`;
}

function rule(report: Report, result: RuleResult): string {
  const { id, verdict, level, says, unproven: isUnproven, evidence } = result;
  const tags = [
    `<span class="tag">${level}</span>`,
    ...(isUnproven === true ? ['<span class="tag warn">unproven</span>'] : []),
    ...(result.baseline === undefined ? [] : [`<span class="tag">${result.baseline.state}</span>`]),
    ...(evidence === 'injected' ? ['<span class="tag">injected</span>'] : []),
  ];
  const { isBroken: isOpen } = describeRule(report, result);
  return `<details class="rule" id="rule-${escapeHtml(id)}" data-verdict="${verdict}" data-level="${level}"${isOpen ? ' open' : ''}>
<summary>${mark(verdict)} <code>${escapeHtml(id)}</code> ${tags.join(' ')} ${escapeHtml(says)}</summary>
<div>${details(report, result)}</div></details>`;
}

function details(report: Report, result: RuleResult): string {
  const { level, section, reach, read_only: isReadOnly, observed, nearest, transcript = [], curl } = result;
  const parts = [
    element('p', `${level}, ${section}; reach ${reach}, checked ${isReadOnly ? 'by reading' : 'by writing'}.`, {
      class: 'quiet',
    }),
  ];
  const { facts, repeat } = describeRule(report, result);
  if (facts.length > 0) parts.push(element('pre', facts.join('\n')));
  if (observed !== undefined) parts.push('<p>Observed</p>', element('pre', JSON.stringify(observed, null, 2)));
  if (nearest !== undefined) {
    const rows = nearest.differs.length === 0 ? ['nothing in the sent request'] : nearest.differs;
    parts.push(
      `<p>Nearest request that passed: <code>${escapeHtml(nearest.request)}</code> of <a href="#${escapeHtml(encodeURIComponent(`rule-${nearest.rule}`))}">${escapeHtml(nearest.rule)}</a>, answered ${nearest.status}. The deciding request differs in:</p>`,
      `<ul>${rows.map((line) => `<li><code>${escapeHtml(line)}</code></li>`).join('')}</ul>`,
    );
  }
  transcript.forEach(({ request, response }, at) => {
    parts.push(`<p>Request ${at + 1} of ${transcript.length}</p>`, element('pre', request.trimEnd()));
    parts.push('<p>Answer</p>', element('pre', response.trimEnd()));
  });
  if (curl !== undefined) parts.push('<p>The same request again</p>', element('pre', curl));
  if (repeat !== undefined) parts.push('<p>The same rule again</p>', element('pre', repeat));
  return parts.join('\n');
}
