import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter, UNLIMITED } from './http/limiter.js';
import { applyBaseline, type BaselineEntry, expectationOf } from './report/baseline.js';
import type { Budget, Report, RuleResult, Shard } from './report/results.js';
import { budgetOf, estimateRequests, readRecordedRequests } from './run/budget.js';
import { checkDeletion } from './run/cleanup.js';
import { checkOptions, selectSome } from './run/options.js';
import { checkReady, withAdmin } from './run/preflight.js';
import { readProven } from './run/proof.js';
import { type Progress, runRules } from './run/runner.js';
import { openScratch, type Scratch, scratchPrefix } from './run/scratch.js';
import type { Target } from './target/target.js';

export type { BaselineEntry } from './report/baseline.js';
export { applyBaseline, readBaseline } from './report/baseline.js';
export type {
  Budget,
  Cleanup,
  Ended,
  Expectation,
  Report,
  RuleResult,
  SetupFailure,
  Shard,
  TranscriptEntry,
  Verdict,
} from './report/results.js';
export { allRules, selectRules } from './rules/registry.js';
export type { Level, Rule, Section } from './rules/rule.js';
export { collectLeft } from './run/collect.js';
export { assertHeld, RuleBroken } from './run/each-rule.js';
export { startEmulator } from './run/emulator-process.js';
export { mergeReports, UnmergeableReports } from './run/merge.js';
export { EmptySelection, InvalidOption } from './run/options.js';
export { isEmulator, Unready } from './run/preflight.js';
export type { Progress } from './run/runner.js';
export {
  isInUse,
  isScratchName,
  openScratch,
  readScratch,
  type Scratch,
  type ScratchEntry,
  ScratchFailure,
} from './run/scratch.js';
export { readKey, type SigningKey } from './target/keys.js';
export { originOf, type Target } from './target/target.js';
export { InvalidTargetFile, readTargetFile, type TargetFile } from './target/target-file.js';

export interface Options {
  /** Rules to run, by pattern of their ids. Default: all. */
  readonly only?: string;
  /** Whether warnings and tolerated variants fail the run. */
  readonly strict?: boolean;
  /** Milliseconds for one answer. Default 15,000. */
  readonly timeout?: number;
  /** Requests a second; `Infinity` for no limit. Default: unlimited on an emulator, 5 on anything else. */
  readonly rate?: number;
  /** Seconds over which the run spreads its requests. */
  readonly window?: number;
  /** Groups of rules that run side by side; no verdict depends on it. Default: 8 on an emulator, otherwise 4. */
  readonly width?: number;
  /** Runs the rules in another order, the same for the same seed; no verdict depends on it. */
  readonly seed?: number;
  /** Checks one part of the rules; `mergeReports` joins the reports of all. */
  readonly shard?: Shard;
  /** The flags that name the same target on a command line, for commands that reports print; no secrets. */
  readonly flags?: readonly string[];
  /** Members of tolerated sets that an earlier run recorded: another one is a failure. */
  readonly pinned?: ReadonlyMap<string, string>;
  /** Failures that are expected: they do not fail the run, and those that are gone do. `readBaseline` reads them. */
  readonly baseline?: readonly BaselineEntry[];
  /** What the names of the repositories begin with that the run makes. Default: `cf`. */
  readonly prefix?: string;
  /** Leaves the repositories that the run makes on the target. Default: they are removed. */
  readonly keep?: boolean;
  /** Interrupts the run: there is a report of what was checked so far, and what was made is removed. */
  readonly signal?: AbortSignal;
  /** Remembers the repositories that the run makes. Default: in memory; `openScratch` writes a journal. */
  readonly scratch?: Scratch;
  /** Told the name of every repository before the target is asked to make it. */
  readonly onRepository?: (name: string) => Promise<void>;
  /** Told how much the run is going to ask, before the first rule. */
  readonly onBudget?: (budget: Budget) => void;
  /** Told the result of every rule, once it is final. */
  readonly onResult?: (result: RuleResult, done: number, total: number) => void;
  /** Told how far the run is, whenever a request goes out or a rule was tried. */
  readonly onProgress?: (progress: Progress) => void;
}

/**
 * Checks a target, rule by rule.
 *
 * ```js
 * import { readKey, run } from 'repohost-emulator/conformance';
 *
 * const target = {
 *   baseUrl: 'https://api.example.com',
 *   gitUrl: 'https://git.example.com',
 *   org: 'acme',
 *   key: await readKey('acme.pem'),
 *   otherKeys: [],
 *   repo: 'docs', // an existing repository, for runs that do not write
 *   write: false,
 *   companion: false,
 * };
 * const { exit_code, counts, rules } = await run(target, { only: 'grep', rate: 2 });
 * ```
 *
 * Throws `InvalidOption` for a mistake in the options (`EmptySelection` when no rule is selected) and `Unready` when the
 * target does not answer, rejects the key, has another time, or cannot delete what the run would make. Whatever happens after that is in the report.
 */
export async function run(given: Target, options: Options = {}): Promise<Report> {
  checkOptions(options);
  const rules = selectSome(options.only);
  const { timeout = 15_000, strict = false, keep = false, signal = new AbortController().signal } = options;
  await checkReady(given, timeout, Date.now);
  const target = await withAdmin(given, timeout);
  const isEmulator = target.adminUrl !== undefined;
  const { rate = isEmulator ? Number.POSITIVE_INFINITY : 5, width = isEmulator ? 8 : 4 } = options;
  const { only, window, seed, shard, pinned, onProgress } = options;
  const requests = estimateRequests(rules, target, readRecordedRequests()) / (shard?.count ?? 1);
  const pace = window === undefined ? rate : Math.min(rate, Math.max(requests, 1) / window);
  const budget = budgetOf(Math.ceil(requests), pace);
  options.onBudget?.(budget);
  const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal });
  const today = new Date().toISOString().slice(0, 10);
  const prefix = scratchPrefix(options.prefix);
  const scratch = options.scratch ?? (await openScratch({ target }));
  const onRepository = options.onRepository ?? (() => Promise.resolve());
  // An interruption stops the rules. The removal of their repositories still runs.
  const cleanupLimiter = Number.isFinite(pace) ? createLimiter(pace, Date.now, (wait) => sleep(wait)) : UNLIMITED;
  if (target.write && !isEmulator && !keep) {
    const name = `${prefix}/deletion`;
    await checkDeletion(target, { name, note: onRepository, scratch, limiter: cleanupLimiter, timeout, width: 1 });
  }
  const report = await runRules(target, {
    rules,
    strict,
    limiter: Number.isFinite(pace) ? createLimiter(pace, Date.now, pause) : UNLIMITED,
    cleanupLimiter,
    width,
    timeout,
    signal,
    prefix,
    scratch,
    keep,
    budget,
    onRepository,
    onResult: (result, done, total) =>
      options.onResult?.(withExpectation(result, options.baseline, today), done, total),
    ...(options.flags === undefined ? {} : { flags: options.flags }),
    ...(await readProven()),
    now: Date.now,
    ...(only === undefined ? {} : { only }),
    ...(seed === undefined ? {} : { seed }),
    ...(shard === undefined ? {} : { shard }),
    ...(pinned === undefined ? {} : { pinned }),
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  return options.baseline === undefined ? report : applyBaseline(report, options.baseline, today);
}

function withExpectation(result: RuleResult, baseline: Options['baseline'], today: string): RuleResult {
  const entry = baseline?.find(({ rule }) => rule === result.id);
  return entry === undefined ? result : { ...result, baseline: expectationOf(result, entry, today) };
}

/**
 * Checks a target and gives each result as soon as it is final; the report is what the generator returns. So that each
 * rule is a test of its own, under `node:test` here:
 *
 * ```js
 * import test from 'node:test';
 * import { assertHeld, eachRule } from 'repohost-emulator/conformance';
 *
 * for await (const result of eachRule(target)) {
 *   test(`${result.id}: ${result.says}`, (t) => assertHeld(result, { skip: (why) => t.skip(why) }));
 * }
 * ```
 *
 * Under tap it is `t.test(title, (t) => assertHeld(result, { skip: (why) => t.comment(why) }))`, or `t.pass(title,
 * { skip: why })`. Leaving the loop early interrupts the run.
 */
export async function* eachRule(target: Target, options: Options = {}): AsyncGenerator<RuleResult, Report, void> {
  const abort = new AbortController();
  const signal = options.signal === undefined ? abort.signal : AbortSignal.any([options.signal, abort.signal]);
  const results: RuleResult[] = [];
  let wake: () => void = () => undefined;
  const onResult: NonNullable<Options['onResult']> = (result, done, total) => {
    results.push(result);
    options.onResult?.(result, done, total);
    wake();
  };
  let isOver = false;
  const running = run(target, { ...options, signal, onResult }).finally(() => {
    isOver = true;
    wake();
  });
  running.catch(() => undefined);
  try {
    for (let next = 0; ; ) {
      const result = results[next];
      if (result !== undefined) {
        next += 1;
        yield result;
      } else if (isOver) return await running;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    abort.abort();
    await running.catch(() => undefined);
  }
}
