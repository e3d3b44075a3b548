import type { Section } from '../rules/rule.js';
import { NATIVE_GIT_CLIENT } from '../target/git-clients.js';
import { groupBy } from '../target/json.js';
import {
  countVerdicts,
  coverageOf,
  executed,
  injected,
  minCheckedOf,
  type Report,
  type RuleResult,
  VERDICTS,
  type Verdict,
} from './results.js';
import { quote } from './shell.js';

/** Function that renders a report as text in one format, such as JUnit. The report is its only input. */
export type Reporter = (report: Report) => string;

/** One-character symbol of each verdict. */
export const MARKS: Readonly<Record<Verdict, string>> = {
  pass: '✓',
  fail: '✗',
  warn: '!',
  observed: '·',
  variant: '≈',
  skip: '-',
  blocked: '…',
  error: 'E',
  flaky: '?',
};

/** Meaning of each verdict in a few words, for legends. */
export const MEANINGS: Readonly<Record<Verdict, string>> = {
  pass: 'the rule holds',
  fail: 'a MUST is broken',
  warn: 'a SHOULD is broken',
  observed: 'not specified; the observed behaviour is reported',
  variant: 'another response that a contradictory part of the specification supports',
  skip: 'cannot be checked on this target',
  blocked: 'not checked: the target throttled or could not be reached, or a fixture could not be created',
  error: 'internal error of the suite',
  flaky: 'failed, then passed when repeated alone',
};

/**
 * Returns true if the result makes the run fail. An expected failure does not; a baseline entry that expects something
 * else does. `strict`: true if warnings and variants also make the run fail.
 */
export function isBroken({ verdict, baseline }: Pick<RuleResult, 'verdict' | 'baseline'>, strict: boolean): boolean {
  if (baseline !== undefined && baseline.state !== 'unobserved') return baseline.state !== 'expected';
  if (verdict === 'fail' || verdict === 'error' || verdict === 'flaky') return true;
  return strict && (verdict === 'warn' || verdict === 'variant');
}

/** Section name for results that belong to no rule, such as a fixture that could not be created. */
export const THE_RUN = 'The run' as string as Section;

const SETUP = 'set-up: ';

/**
 * Converts fixtures (prepared state of the target) that could not be created into rule results, so that all formats
 * show them.
 */
function brokenSetup({ setup = [] }: Report): readonly RuleResult[] {
  return setup.map(({ name, ...shown }) => ({
    id: `${SETUP}${name}`,
    section: THE_RUN,
    says: `${name} can be created; other rules depend on this fixture.`,
    level: 'MUST',
    reach: 'any',
    read_only: false,
    milliseconds: 0,
    ...shown,
  }));
}

/**
 * Returns the results that make the run fail. Fixtures that could not be created come first. Rules follow, failures
 * before errors.
 */
function brokenRules(report: Report): readonly RuleResult[] {
  const order: readonly Verdict[] = ['fail', 'flaky', 'error', 'warn', 'variant', 'observed', 'pass'];
  const rules = report.rules
    .filter((result) => isBroken(result, report.mode.strict))
    .sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  return [...brokenSetup(report), ...rules];
}

/** Returns the results of the failures that the baseline (list of expected failures) expects. */
function expectedFailures({ rules }: Report): readonly RuleResult[] {
  return rules.filter(({ baseline }) => baseline?.state === 'expected');
}

/**
 * Maximum length of a curl command in characters. Longer commands appear only in the JSON report, because nobody would
 * read or copy them.
 */
export const MAX_CURL = 4096;

/** Joins names with commas. If there are many, lists the first `max` and says how many more there are. */
export function enumerate(names: readonly string[], max = 8): string {
  if (names.length <= max + 1) return names.join(', ');
  return `${names.slice(0, max).join(', ')} and ${names.length - max} more`;
}

/** Returns remarks about the whole run, for example that it ended early. One sentence each. */
function remarks(report: Report): string[] {
  const { notices = [], ended, mode, throttled_seconds: throttled = 0, cleanup } = report;
  const { shard } = mode;
  const left = cleanup?.left ?? [];
  const why = cleanup?.reason === undefined ? '' : ` (${cleanup.reason})`;
  const tooFew = tooFewChecked(report);
  const done = cleanup?.kept === true ? 'Kept' : 'Left behind';
  return [
    ...notices,
    ...(ended === undefined ? [] : [`The run ended before all rules were checked: ${ended.reason}`]),
    ...describeGitClients(report),
    ...(shard === undefined ? [] : [`This is part ${shard.index} of ${shard.count}.`]),
    // Omit this sentence if the conclusion already says it.
    ...(tooFew === undefined || tooFew === conclude(report) ? [] : [tooFew]),
    ...(throttled === 0 ? [] : [`The target throttled the run for ${throttled} s.`]),
    ...(left.length === 0 ? [] : [`${done} on the target${why}: ${enumerate(left)}`]),
    ...expectedFailures(report).map((result) => `${result.id}: ${explainBaseline(result).join()}`),
    ...unobserved(report),
  ];
}

/**
 * Returns a sentence that names the run's Git clients. Returns an empty list if only isomorphic-git was used, which is
 * part of the suite.
 */
function describeGitClients({ mode, rules }: Report): string[] {
  if (mode.git_client === undefined || mode.git_client === 'js') return [];
  const native = new Set(rules.flatMap(({ observed }) => observed?.[NATIVE_GIT_CLIENT] ?? []).map(String));
  const used = [...(mode.git_client === 'both' ? ['isomorphic-git'] : []), ...native];
  return used.length === 0 ? [] : [`Git clients of this run: ${used.join(', ')}.`];
}

/**
 * Returns a sentence that lists the baseline entries (expected failures) whose rules were not checked. Returns an empty
 * list if there are no such entries.
 */
function unobserved({ rules, baseline }: Report): string[] {
  const own = rules.flatMap(({ id, baseline: one }) => (one?.state === 'unobserved' ? [id] : []));
  const ids = [...own, ...(baseline?.elsewhere ?? []).map(({ rule }) => rule)];
  return ids.length === 0 ? [] : [`Not checked, although in the baseline: ${enumerate(ids)}.`];
}

/**
 * Explains in one line the state of a rule's baseline entry (expected failure). Returns an empty list if the rule has
 * no entry.
 */
export function explainBaseline({ verdict, baseline }: RuleResult): string[] {
  if (baseline === undefined) return [];
  const { state, reason, expires, verdict: wanted = 'a failure' } = baseline;
  const words = {
    expected: `expected to be broken until ${expires}`,
    expired: `was expected to be broken only until ${expires}`,
    unexpected: `the baseline expects ${wanted}, but the verdict is ${verdict}`,
    stale: `the baseline expects ${wanted}, but the verdict is ${verdict}; remove it from the baseline`,
    unobserved: `expected to be broken until ${expires}, but not checked`,
  };
  return [`${words[state]} (${reason})`];
}

/** Groups results by section of the specification, in the order of the report. */
function bySection({ rules }: Report): ReadonlyMap<string, readonly RuleResult[]> {
  return groupBy(rules, ({ section }) => section);
}

/** Formats verdict counts, such as `2 pass, 1 fail`. `mark` returns a prefix for each verdict. */
export function countsOf(results: readonly RuleResult[], mark: (verdict: Verdict) => string = () => ''): string {
  const counts = Object.entries(countVerdicts(results)) as [Verdict, number][];
  return counts.flatMap(([verdict, count]) => (count === 0 ? [] : [`${mark(verdict)}${count} ${verdict}`])).join(', ');
}

/**
 * Returns the counts of a report, each with its meaning. Verdicts come first, then other counts such as the number of
 * unproven rules.
 */
function tally(report: Report) {
  // `mark` is a symbol. Only verdicts have one.
  const rows: readonly { name: string; mark?: string; count: number; means: string }[] = [
    ...VERDICTS.map((name) => ({ name, mark: MARKS[name], count: report.counts[name], means: MEANINGS[name] })),
    {
      name: 'injected',
      count: injected(report.rules),
      means: 'checked on responses that a fault of the emulator produced',
    },
    { name: 'unproven', count: unproven(report), means: 'MUST rules that no mutant in the test suite breaks' },
  ];
  return rows.filter(({ count }) => count > 0);
}

/** Returns requirement level, section and statement of a rule in one line. */
function headline({ level, section, says }: RuleResult): string {
  return `${level}, ${section}: ${says}`;
}

/**
 * Returns a line for an unproven rule: a rule that no server with a deliberate defect (mutant) has made fail. Returns
 * an empty list for other rules.
 */
function explainUnproven({ unproven }: RuleResult): string[] {
  return unproven === true ? ['unproven: no mutant in the test suite breaks this rule'] : [];
}

/** Formats a value as one line of at most 300 characters. */
export function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Explains the verdict of a rule: its reason, the expected and actual value, and its baseline state. One line each. */
export function explain(result: RuleResult): string[] {
  const lines: string[] = [];
  if (result.reason !== undefined) lines.push(result.reason);
  if (result.expected !== undefined) lines.push(`expected ${show(result.expected)}`, `actual   ${show(result.actual)}`);
  lines.push(...explainBaseline(result));
  return lines;
}

/**
 * Explains how the deciding request differs from the most similar request of a passed rule. Returns an empty list if
 * there is no such request.
 */
function explainNearest({ nearest }: RuleResult): string[] {
  if (nearest === undefined) return [];
  const { rule, request, status, differs } = nearest;
  const head = `nearest request that passed: ${request} of ${rule} (${status})`;
  if (differs.length === 0) return [head, 'differs in: nothing in the sent request'];
  return [head, ...differs.map((line) => `differs in: ${line}`)];
}

/**
 * Returns the command that checks one rule again on the same target. Returns undefined for recorded traffic and for
 * fixtures, because neither can be checked again.
 */
function repeatCommand({ mode, recording }: Report, id: string): string | undefined {
  // A result whose id begins with `SETUP` is a fixture, which `--only` cannot select.
  if (recording !== undefined || id.startsWith(SETUP)) return undefined;
  const client = mode.git_client === undefined ? [] : ['--git-client', mode.git_client];
  return ['npx', 'conformance', 'run', ...(mode.flags ?? []), ...client, '--only', id].map(quote).join(' ');
}

/** Returns the texts about one rule. All report formats use them. */
export function describeRule(report: Report, result: RuleResult) {
  return {
    isBroken: isBroken(result, report.mode.strict),
    headline: headline(result),
    facts: explain(result),
    baseline: explainBaseline(result),
    nearest: explainNearest(result),
    unproven: explainUnproven(result),
    repeat: repeatCommand(report, result.id),
  };
}

/** Returns the texts about the whole run. All report formats use them. */
export function describeRun(report: Report) {
  return {
    setup: brokenSetup(report),
    broken: brokenRules(report),
    sections: bySection(report),
    tally: tally(report),
    unproven: unproven(report),
    remarks: remarks(report),
    conclusion: conclude(report),
    measure: measure(report),
    coverage: describeCoverage(report),
  };
}

/**
 * Replaces control characters except line feed and tab by visible text such as `\x1b`. Otherwise text from the target
 * could control the terminal.
 */
export function visible(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/**
 * Returns true if the run is incomplete: rules were deselected or could not be checked, or the run ended early. Such a
 * run gets no badge.
 */
export function isPartial(report: Report): boolean {
  const { interrupted, mode, counts, recording, ended } = report;
  if (interrupted || ended !== undefined || mode.only !== undefined || mode.shard !== undefined) return true;
  if (mode.profiles !== undefined) return true;
  if (recording !== undefined) return true;
  return counts.blocked + counts.error > 0 || executed(counts) === 0 || tooFewChecked(report) !== undefined;
}

/** Returns the number of unproven rules: MUST rules that no mutant (server with a deliberate defect) has made fail. */
function unproven({ rules }: Report): number {
  return rules.filter((rule) => rule.unproven === true).length;
}

/** Returns one sentence that says whether the target conforms, or why the run cannot tell. */
function conclude(report: Report): string {
  const { target, interrupted, counts, exit_code: code, mode, recording, ended, setup = [] } = report;
  const name = target.base_url;
  if (interrupted) return 'Interrupted.';
  if (ended !== undefined)
    return ended.by === 'target' ? `The check of ${name} did not complete.` : 'The run failed with an internal error.';
  if (executed(counts) === 0) return `Nothing was checked, so the result says nothing about ${name}.`;
  if (recording !== undefined) {
    return code === 0 ? `${name} satisfies every rule that could be checked.` : `${name} does not conform.`;
  }
  if (code === 0) {
    const expected = expectedFailures(report).length;
    const but = expected === 0 ? '' : ` but for ${expected} expected failure${expected === 1 ? '' : 's'}`;
    return `${name} conforms${mode.only === undefined && mode.profiles === undefined ? '' : ' in the checked rules'}${but}.`;
  }
  const tooFew = tooFewChecked(report);
  if (code === 1 && tooFew !== undefined && brokenRules(report).length === 0) return tooFew;
  if (code === 3) return `Not all rules could be checked on ${name}; the run is incomplete.`;
  if (code === 4 && counts.error + setup.length === 0) return `The run left repositories behind on ${name}.`;
  if (code === 4) return 'The run had internal errors. The verdicts of the other rules are valid.';
  return `${name} does not conform.`;
}

/** Returns a sentence if the run checked fewer rules than `--min-checked` requires. Returns undefined otherwise. */
export function tooFewChecked({ mode, counts }: Report): string | undefined {
  const min = minCheckedOf(mode);
  const checked = executed(counts);
  return min === undefined || checked >= min
    ? undefined
    : `Only ${checked} ${checked === 1 ? 'rule was' : 'rules were'} checked, fewer than the ${min} that --min-checked requires.`;
}

/**
 * Returns a sentence with the number of rules that a read-only run checked, because such a run covers only a part of
 * the specification. Returns an empty list for runs that may write, and for recorded traffic.
 */
function describeCoverage({ mode, counts, recording }: Report): string[] {
  if (mode.write || recording !== undefined) return [];
  const { checked, total } = coverageOf(counts);
  return [`Read-only run: ${checked} of ${total} rules checked, ${total - checked} not checked.`];
}

/** Returns a sentence with the number of checked rules, the number of requests and the duration. */
function measure(report: Report): string {
  const { counts, rules, requests, milliseconds, recording } = report;
  const checked = `${executed(counts)} of ${rules.length} rules checked`;
  if (recording !== undefined) return `${checked} on ${recording.checked} of ${recording.entries} recorded requests.`;
  return `${checked}, ${requests} requests, ${(milliseconds / 1000).toFixed(1)} s.`;
}
