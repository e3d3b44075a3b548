import { setMaxListeners } from 'node:events';
import { RuleContext } from '../check/rule-context.js';
import type { RunContext } from '../check/run-context.js';
import type { Exchange } from '../http/exchange.js';
import { lossOf, RunEnded } from '../http/no-response.js';
import type { RequestLog } from '../report/nearest.js';
import { redactValue } from '../report/redact.js';
import { isBroken } from '../report/reporter.js';
import type { RuleResult } from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import { defined } from '../target/json.js';
import { settleVariants } from './drift.js';
import type { RunOptions } from './options.js';
import { groupsOf, shuffled } from './shards.js';
import {
  aboutRule,
  addWatched,
  describeWatch,
  Overdue,
  type RuleVerdict,
  reasonToSkip,
  showWhole,
  verdictOfReturned,
  verdictOfThrown,
} from './verdict.js';
import type { Watcher } from './watcher.js';

/**
 * Early end of a run, before all rules were checked. `signal` is aborted if the caller interrupts the run (`given`), or
 * by `end`. `end` is called when the target is gone or the suite failed. `reason` is undefined unless `end` was called
 * first.
 */
export class Ending {
  readonly signal: AbortSignal;
  reason: RunEnded | undefined;
  readonly #stop = new AbortController();

  constructor(given: AbortSignal) {
    this.signal = AbortSignal.any([given, this.#stop.signal]);
    setMaxListeners(0, given, this.#stop.signal, this.signal); // each pending request adds a listener
  }

  end(reason: RunEnded): void {
    if (this.signal.aborted) return;
    this.reason = reason;
    this.#stop.abort(reason);
  }
}

/** Objects that a run provides to its rule runner. */
export interface Surroundings {
  readonly ending: Ending;
  readonly watcher: Watcher;
  /**
   * Log of all requests of the run. For each broken rule, a report shows the most similar request of a passed rule from
   * this log.
   */
  readonly log: RequestLog;
  /** Number of requests sent so far, by rule id. */
  readonly requests: ReadonlyMap<string, number>;
  /** Called after each check with the number of rules checked so far. */
  readonly onTried: (tried: number) => void;
}

interface Outcome {
  readonly verdict: RuleVerdict;
  readonly milliseconds: number;
  readonly context: RuleContext;
}

/** Broken rules are checked again only if there are at most this many. More failures are not caused by chance. */
const MAX_RETRIED = 20;

/** Checks the rules of a run. Decides their order and concurrency, and computes their results. */
export class RuleRunner {
  readonly #results = new Map<string, RuleResult>();
  readonly #outcomes = new Map<string, Outcome>();
  readonly #reported = new Set<string>();
  /**
   * The exchange (request and response) that decided the verdict, by rule id. Contains only rules that are broken or
   * have an error.
   */
  readonly #decidedBy = new Map<string, Exchange>();
  #tried = 0;

  /**
   * `rules`: rules that this runner checks. These are all rules of `options`, or those of one shard (part of a run).
   */
  constructor(
    readonly run: RunContext,
    readonly rules: readonly Rule[],
    readonly options: RunOptions,
    readonly around: Surroundings,
  ) {}

  /**
   * Checks all rules in three phases.
   * 1. Groups of rules run concurrently. The rules of a group run one after the other.
   * 2. Rules marked `alone` run, because they would disturb other rules.
   * 3. Broken rules are checked again.
   */
  async runAll(): Promise<{ readonly results: readonly RuleResult[]; readonly variants: Record<string, string> }> {
    const { rules } = this;
    const { seed, width } = this.options;
    const active = rules.filter((rule) => rule.check !== undefined);
    const groups = this.#inOrder(groupsOf(active.filter((rule) => rule.alone !== true)));
    await Promise.all(
      Array.from({ length: width }, async () => {
        for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
          for (const rule of group) await this.#runOne(rule);
        }
      }),
    );
    const alone = active.filter((rule) => rule.alone === true);
    for (const rule of seed === undefined ? alone : shuffled(alone, seed)) await this.#runOne(rule);
    await this.#retryBroken(active);
    for (const rule of rules) this.#results.set(rule.id, this.#resultOf(rule));
    const all = rules.flatMap(({ id }) => this.#results.get(id) ?? []);
    const { results, variants } = settleVariants(all, (id) => this.#shown(id));
    for (const result of results) this.#results.set(result.id, result);
    const explained = results.map((result) => this.#explain(result));
    for (const result of explained) this.#report(result);
    return { results: explained, variants };
  }

  #inOrder(groups: Rule[][]): Rule[][] {
    const { seed } = this.options;
    if (seed === undefined) return groups.sort((a, b) => b.length - a.length);
    return shuffled(groups, seed).map((group) => shuffled(group, seed));
  }

  async #runOne(rule: Rule): Promise<void> {
    if (this.around.ending.signal.aborted) return;
    const outcome = await this.#check(rule);
    this.#tried += 1;
    if (outcome === undefined) return;
    this.#outcomes.set(rule.id, outcome);
    this.around.onTried(this.#tried);
    const isFinal = rule.watch === undefined && this.run.variants.of(rule.id) === undefined;
    if (isFinal && !isRetried(outcome)) this.#report(this.#resultOf(rule));
  }

  /**
   * Checks one rule and returns its verdict and duration. Returns undefined if the run was interrupted before there was
   * a verdict.
   */
  async #check(rule: Rule): Promise<Outcome | undefined> {
    const context = new RuleContext(rule, this.run);
    const started = performance.now();
    const verdict = await this.#verdictOf(rule, context);
    return verdict && { verdict, context, milliseconds: Math.round(performance.now() - started) };
  }

  async #verdictOf(rule: Rule, t: RuleContext): Promise<RuleVerdict | undefined> {
    const reason = reasonToSkip(rule, this.run.target);
    if (reason !== undefined || rule.check === undefined)
      return { verdict: 'skip', reason: reason ?? 'not written yet' };
    const { signal } = this.around.ending;
    let abort: () => void = () => undefined;
    const over = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort);
      const limitTo = (longest: number) =>
        t.stopwatch.limit(longest, () => {
          // Compute the limit again, because the target may have become slower since the start of the check.
          const later = this.#longest();
          if (later > t.stopwatch.elapsed + 1) limitTo(later);
          else reject(new Overdue(Math.round(longest / 1000)));
        });
      limitTo(this.#longest());
    });
    over.catch(() => undefined);
    try {
      await Promise.race([rule.check(t), over]);
      return verdictOfReturned(rule, t);
    } catch (error) {
      if (lossOf(error) !== undefined) await this.#endIfGone();
      const ended = this.around.ending.reason;
      const verdict = verdictOfThrown(rule, t, error);
      if (!signal.aborted || verdict.verdict === 'fail' || verdict.verdict === 'warn') return verdict;
      return ended && verdictOfThrown(rule, t, ended);
    } finally {
      signal.removeEventListener('abort', abort);
      t.stopwatch.stop();
    }
  }

  /** Returns the maximum working time of one rule in milliseconds. It depends on the current latency of the target. */
  #longest(): number {
    return this.run.latency.scale(this.options.timeout * 4);
  }

  async #endIfGone(): Promise<void> {
    const { client, target } = this.run;
    if (await client.isThere(target.baseUrl)) return;
    this.around.ending.end(new RunEnded('target', `${target.baseUrl} no longer accepts connections`));
  }

  /**
   * Checks the broken rules a second time, one after the other. A failure may have been caused by a concurrent rule or
   * by chance. A rule that passes now gets the verdict `flaky`, not `pass`.
   */
  async #retryBroken(active: readonly Rule[]): Promise<void> {
    const broken = active.filter(({ id }) => {
      const outcome = this.#outcomes.get(id);
      return outcome !== undefined && isRetried(outcome);
    });
    if (broken.length > MAX_RETRIED) return;
    for (const rule of broken) {
      const first = this.#outcomes.get(rule.id);
      if (first === undefined || this.around.ending.signal.aborted) continue;
      const seen = this.run.variants.take(rule.id);
      const second = await this.#check(rule);
      if (second === undefined || ['fail', 'error', 'skip', 'blocked'].includes(second.verdict.verdict)) {
        this.run.variants.put(rule.id, seen);
        continue;
      }
      const reason = `${first.verdict.reason} (passed when repeated alone)`;
      this.#outcomes.set(rule.id, { ...first, verdict: { ...first.verdict, verdict: 'flaky', reason } });
    }
  }

  #resultOf(rule: Rule): RuleResult {
    const known = this.#results.get(rule.id);
    if (known !== undefined) return known;
    const outcome = this.#outcomes.get(rule.id);
    const { target } = this.run;
    let verdict = outcome?.verdict;
    if (rule.watch !== undefined) {
      const seen = this.around.watcher.of(rule.id);
      const watched = addWatched(rule.level, verdict, describeWatch(rule.id, seen, target));
      verdict =
        watched === verdict || seen.broken === undefined ? watched : { ...watched, decidedBy: seen.broken.exchange };
    }
    const isSilent = verdict === undefined || (rule.check === undefined && verdict.verdict === 'skip');
    if (isSilent && this.around.ending.signal.aborted) verdict = this.#withoutCheck(rule);
    verdict ??= { verdict: 'skip', reason: reasonToSkip(rule, target) ?? 'not written yet' };
    const variants = this.run.variants.of(rule.id);
    const { id, level } = rule;
    const { decidedBy, ...shown } = verdict;
    if (decidedBy !== undefined) this.#decidedBy.set(id, decidedBy);
    const isUnproven = level === 'MUST' && this.options.proven?.has(id) === false;
    return {
      ...aboutRule(rule),
      read_only: !rule.writes,
      ...redactValue(shown),
      ...(isUnproven ? { unproven: true } : {}),
      milliseconds: outcome?.milliseconds ?? 0,
      requests: this.around.requests.get(id) ?? 0,
      ...defined({ variants }),
    };
  }

  /** Returns the verdict of a rule that was not checked because the run ended early. */
  #withoutCheck(rule: Rule): RuleVerdict {
    const reason = reasonToSkip(rule, this.run.target);
    if (reason !== undefined) return { verdict: 'skip', reason };
    const ended = this.around.ending.reason;
    return ended ? { verdict: 'blocked', reason: ended.message } : { verdict: 'skip', reason: 'interrupted' };
  }

  #shown(id: string): Pick<RuleResult, 'transcript' | 'curl' | 'recipe'> {
    const exchanges = this.#outcomes.get(id)?.context.exchanges ?? [];
    const last = exchanges.at(-1);
    if (last !== undefined) this.#decidedBy.set(id, last);
    return showWhole(exchanges, this.run.target);
  }

  /** Adds the most similar request of a passed rule to the result of a broken rule, as a comparison for the reader. */
  #explain(result: RuleResult): RuleResult {
    const exchange = this.#decidedBy.get(result.id);
    if (exchange === undefined || !isBroken(result, this.options.strict)) return result;
    const isPassed = (rule: string) => {
      const verdict = this.#results.get(rule)?.verdict;
      return verdict === 'pass' || verdict === 'observed';
    };
    const nearest = this.around.log.nearestTo(exchange, isPassed, result.expected);
    return nearest === undefined ? result : { ...result, nearest };
  }

  #report(result: RuleResult): void {
    if (this.#reported.has(result.id)) return;
    this.#reported.add(result.id);
    this.#results.set(result.id, result);
    this.options.onResult(result, this.#reported.size, this.rules.length);
  }
}

function isRetried({ verdict: { verdict } }: Outcome): boolean {
  return verdict === 'fail' || verdict === 'error';
}
