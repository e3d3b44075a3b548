import { applyBaseline, entriesOf } from '../report/baseline.js';
import { profileResults } from '../report/profile-results.js';
import {
  type Cleanup,
  countVerdicts,
  coverageOf,
  exitCodeOf,
  minCheckedOf,
  type Report,
  type RuleResult,
  type SetupFailure,
  type Watched,
} from '../report/results.js';
import { allRules } from '../rules/registry.js';
import { defined } from '../target/json.js';
import { settleVariants, withoutDrift } from './drift.js';
import { addWatched, NOTHING_SEEN, type RuleVerdict } from './verdict.js';

/**
 * Thrown by `mergeReports` if the reports are not the shards (parts) of one run. The message says what differs.
 *
 * ```js
 * assert.throws(() => mergeReports([]), UnmergeableReports);
 * ```
 */
export class UnmergeableReports extends Error {
  override readonly name = 'UnmergeableReports';
}

/**
 * Merges the reports of all shards of a run into one report. A shard is a run of one part of the rules. Throws
 * `UnmergeableReports` if the reports are not one complete run.
 *
 * Some rules also judge responses to the requests of other rules, so their observations from all shards are combined.
 * Where the specification permits several responses, the target must use the same one in all shards.
 *
 * ```js
 * const shard = (index) => run(target, { only: 'grep', shard: { index, count: 2 } });
 * const whole = mergeReports([await shard(1), await shard(2)]);
 * ```
 */
export function mergeReports(reports: readonly Report[]): Report {
  const [first] = reports;
  if (first === undefined) throw new UnmergeableReports('no report to merge');
  checkShards(first, reports);
  const watched = joinWatched(reports);
  const order = new Map(allRules().map(({ id }, index) => [id, index]));
  const results = reports
    .flatMap(({ rules, watched: seen = [] }) =>
      rules.map(({ baseline: _said, ...result }) => {
        const own = seen.find(({ id }) => id === result.id);
        return withWatched(withoutDrift(result), own, watched.get(result.id));
      }),
    )
    .sort((one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0));
  const { results: rules, variants } = settleVariants(results);
  const counts = countVerdicts(rules);
  const setup = joinSetup(reports);
  const cleanup = joinCleanup(reports);
  const interrupted = reports.some((report) => report.interrupted);
  const ended = reports.find((report) => report.ended)?.ended;
  const { shard: _shard, ...mode } = first.mode;
  const { baseline: _held, ...whole } = first;
  const entries = entriesOf(first);
  const merged: Report = {
    ...whole,
    started_at: reports.map(({ started_at }) => started_at).sort()[0] ?? first.started_at,
    milliseconds: Math.max(...reports.map(({ milliseconds }) => milliseconds)),
    mode,
    budget: { requests: sum(reports, ({ budget }) => budget?.requests ?? 0) },
    requests: sum(reports, ({ requests }) => requests),
    throttled_seconds: sum(reports, (report) => report.throttled_seconds ?? 0),
    interrupted,
    ...defined({ ended }),
    notices: [...new Set(reports.flatMap(({ notices = [] }) => notices))],
    setup,
    cleanup,
    counts,
    coverage: coverageOf(counts),
    profiles: profileResults({ rules }),
    variants,
    rules,
    watched: [...watched.values()],
    exit_code: exitCodeOf(counts, {
      ...{ strict: mode.strict, interrupted, ended, setup, cleanup },
      minChecked: minCheckedOf(mode),
    }),
  };
  return entries === undefined ? merged : applyBaseline(merged, entries, first.started_at.slice(0, 10));
}

function checkShards(first: Report, reports: readonly Report[]): void {
  const { count } = first.mode.shard ?? { count: 0 };
  const facts = (report: Report) => ({
    'the version of the suite': report.suite.version,
    'base_url of the target': report.target.base_url,
    'git_url of the target': report.target.git_url,
    'org of the target': report.target.org,
    'the number of shards': report.mode.shard?.count ?? 0,
    'the selected rules': [report.mode.only, ...[...(report.mode.profiles ?? [])].sort()].join(' '),
    'the option --git-client': report.mode.git_client ?? 'js',
    'the option --strict': report.mode.strict,
    'the option --min-checked': report.mode.min_checked ?? 0,
    'the option --write': report.mode.write,
    'the baseline': JSON.stringify(entriesOf(report) ?? []),
  });
  for (const report of reports) {
    if (report.mode.shard === undefined) throw new UnmergeableReports('a report is of a complete run, not of a shard');
    for (const [name, value] of Object.entries(facts(report))) {
      const expected = (facts(first) as Record<string, unknown>)[name];
      if (value !== expected) throw new UnmergeableReports(`${name} differs: ${expected} and ${value}`);
    }
  }
  for (let index = 1; index <= count; index++) {
    const found = reports.filter(({ mode }) => mode.shard?.index === index).length;
    if (found !== 1) throw new UnmergeableReports(`shard ${index}/${count} is given ${found} times instead of once`);
  }
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function joinWatched(reports: readonly Report[]): Map<string, Watched> {
  const joined = new Map<string, Watched>();
  for (const one of reports.flatMap(({ watched = [] }) => watched)) {
    const before = joined.get(one.id);
    const broken = [before?.broken, one.broken]
      .filter((each) => each !== undefined)
      .sort((a, b) => (a.reason ?? '').localeCompare(b.reason ?? ''))[0];
    joined.set(one.id, {
      id: one.id,
      answers: one.answers + (before?.answers ?? 0),
      evidence: [one, before].some((each) => each?.evidence === 'injected') ? 'injected' : 'observed',
      ...defined({ broken }),
    });
  }
  return joined;
}

/**
 * Returns a rule's result with the observations of all shards (`watched`) in place of those of one shard. `seen` are
 * the observations of the shard that checked the rule. A verdict of the rule's own check is kept. A verdict that came
 * only from `seen` is computed again from `watched`.
 */
function withWatched(result: RuleResult, seen: Watched | undefined, watched: Watched | undefined): RuleResult {
  if (seen === undefined || watched === undefined) return result;
  const { id, section, says, level, reach, read_only, milliseconds, requests, variants, unproven, ...own } = result;
  const isBySeen = isObservedOnly(own, seen) || (seen.broken !== undefined && own.reason === seen.broken.reason);
  return {
    ...{ id, section, says, level, reach, read_only, milliseconds },
    ...addWatched(level, isBySeen ? undefined : own, watched),
    ...defined({ requests, variants, unproven }),
  };
}

/**
 * Returns true if a verdict came only from responses to the requests of other rules. The result then contains the
 * number of these responses, or says that there were none.
 */
function isObservedOnly(own: RuleVerdict, { answers }: Watched): boolean {
  return answers === 0 ? own.reason === NOTHING_SEEN : own.observed?.answers === answers;
}

function joinSetup(reports: readonly Report[]): SetupFailure[] {
  const all = reports.flatMap(({ setup = [] }) => setup);
  // Several shards may have failed to create the same fixture. Keep only the first failure of each name.
  return all.filter(({ name }, at) => all.findIndex((one) => one.name === name) === at);
}

function joinCleanup(reports: readonly Report[]): Cleanup {
  const all = reports.flatMap(({ cleanup }) => cleanup ?? []);
  const reason = all.find((cleanup) => cleanup.reason !== undefined)?.reason;
  const isKept = all.some(({ kept }) => kept) && all.every(({ left, kept }) => left.length === 0 || kept);
  return {
    made: sum(all, ({ made }) => made),
    removed: sum(all, ({ removed }) => removed),
    left: all.flatMap(({ left }) => left),
    ...defined({ reason }),
    ...(isKept && { kept: true }),
  };
}
