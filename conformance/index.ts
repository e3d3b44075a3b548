import { setTimeout as sleep } from 'node:timers/promises';
import { Latency } from './http/latency.js';
import { AdaptivePace, createLimiter } from './http/limiter.js';
import { applyBaseline, expectationOf } from './report/baseline.js';
import type { Budget, Report, RuleResult } from './report/results.js';
import { budgetOf, rulesOfPart } from './run/budget.js';
import { checkDeletion } from './run/cleanup.js';
import { checkOptions, type Options, selectSome } from './run/options.js';
import { checkReady, usualRate, withAdmin } from './run/preflight.js';
import { readProven } from './run/proof.js';
import { runRules } from './run/runner.js';
import { openScratch, scratchPrefix } from './run/scratch.js';
import { defined } from './target/json.js';
import type { Target } from './target/target.js';

export type { BaselineEntry } from './report/baseline.js';
export { applyBaseline, readBaseline } from './report/baseline.js';
export type { Profile } from './report/profiles.js';
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
export { collectLeft } from './run/cleanup.js';
export { assertHeld, RuleBroken } from './run/each-rule.js';
export { startTargetEmulator } from './run/emulator-process.js';
export { mergeReports, UnmergeableReports } from './run/merge.js';
export { EmptySelection, InvalidOption, type Options, type Progress } from './run/options.js';
export { isEmulator, Unready } from './run/preflight.js';
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

/**
 * Checks the conformance rules on a target (the service under test) and returns a report with one verdict per rule.
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
 * A broken rule does not make this function throw, because the report contains the verdicts of all rules. Throws
 * `InvalidOption` for an invalid option (`EmptySelection` if `only` selects no rule). Throws `Unready` if the target
 * does not respond, is not the service, rejects the key, has a wrong clock, or cannot delete the repositories that the
 * run would create.
 */
export async function run(given: Target, options: Options = {}): Promise<Report> {
  checkOptions(options);
  const rules = selectSome(options.only, options.profiles);
  const { timeout = 15_000, strict = false, keep = false, signal = new AbortController().signal } = options;
  const latency = new Latency(await checkReady(given, { timeout, signal }));
  const asked = performance.now();
  const target = await withAdmin(given, { timeout, signal });
  // `withAdmin` sends its request on an open connection, so its duration does not include the time to connect.
  const responseTime = Math.min(latency.measured, performance.now() - asked);
  const isEmulator = target.adminUrl !== undefined;
  const { rate = usualRate(target), width = isEmulator ? 8 : 4 } = options;
  const { window, shard, onRepository = () => Promise.resolve() } = options;
  const isAdaptive = options.rate === undefined && window === undefined && !isEmulator;
  const part = rulesOfPart(rules, shard, target);
  const budget: Budget = {
    ...budgetOf({ rules: part, target, rate, window, width, latency: responseTime / 1000, keep }),
    ...(isAdaptive && { adaptive: true }),
  };
  const { rate: fixed = Number.POSITIVE_INFINITY } = budget;
  const adaptive = isAdaptive ? new AdaptivePace(fixed) : undefined;
  const pace = adaptive ?? fixed;
  options.onBudget?.(budget);
  const today = new Date().toISOString().slice(0, 10);
  const prefix = scratchPrefix(options.prefix);
  const scratch = options.scratch ?? (await openScratch({ target }));
  // This limiter does not use `signal`. An abort stops the rules, but the repositories that they created must still be
  // deleted; the limiter's waits must therefore not be aborted.
  const cleanupLimiter = createLimiter(pace, Date.now, (wait) => sleep(wait));
  let requests = 0;
  const onRequest = () => {
    requests += 1;
  };
  if (target.write && !isEmulator && !keep && !signal.aborted) {
    const deletion = { limiter: cleanupLimiter, timeout, width: 1, latency, interruption: signal, onRequest };
    await checkDeletion(target, { name: `${prefix}/deletion`, note: onRepository, scratch, ...deletion });
  }
  const checked = await runRules(target, {
    ...options,
    rules,
    strict,
    limiter: createLimiter(pace, Date.now, (wait) => sleep(wait, undefined, { signal })),
    cleanupLimiter,
    latency,
    ...defined({ adaptive }),
    width,
    timeout,
    signal,
    prefix,
    scratch,
    budget,
    onRepository,
    onResult: (result, done, total) =>
      options.onResult?.(withExpectation(result, options.baseline, today), done, total),
    ...(await readProven()),
    now: Date.now,
  });
  const report = { ...checked, requests: checked.requests + requests };
  return options.baseline === undefined ? report : applyBaseline(report, options.baseline, today);
}

function withExpectation(result: RuleResult, baseline: Options['baseline'], today: string): RuleResult {
  const entry = baseline?.find(({ rule }) => rule === result.id);
  return entry === undefined ? result : { ...result, baseline: expectationOf(result, entry, today) };
}

/**
 * Checks a target as `run` does, but yields the result of each rule as soon as that result is final. The return value
 * of the generator is the report. With this form, each rule can be a separate test of a test runner. Example for
 * `node:test`:
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
 * For `tap`, use `t.test(title, (t) => assertHeld(result, { skip: (why) => t.comment(why) }))`, or
 * `t.pass(title, { skip: why })` for a skipped rule. Leaving the loop early interrupts the run.
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
