import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner } from '../auth/tokens.js';
import { RefusedWrites } from '../check/refused-writes.js';
import type { RunContext } from '../check/run-context.js';
import { Variants } from '../check/variants.js';
import { Client } from '../http/client.js';
import { Latency } from '../http/latency.js';
import { RunEnded } from '../http/no-response.js';
import { quotaOf } from '../http/throttling.js';
import { RequestLog } from '../report/nearest.js';
import { profileResults } from '../report/profile-results.js';
import { redactValue } from '../report/redact.js';
import { type Cleanup, countVerdicts, coverageOf, exitCodeOf, minCheckedOf, type Report } from '../report/results.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import { rulesOfPart } from './budget.js';
import { cleanUp } from './cleanup.js';
import { MissingRoutes, RepeatedResponse } from './notices.js';
import type { RunOptions } from './options.js';
import { Ending, RuleRunner } from './rule-runner.js';
import { describeStep, describeWatch } from './verdict.js';
import { beginReport } from './version.js';
import { Watcher } from './watcher.js';

/**
 * Checks the given rules on a target and returns the report. With `options.shard`, checks only the rules of that shard
 * (part of a run). Repositories that the run created are deleted at the end.
 */
export async function runRules(target: Target, options: RunOptions): Promise<Report> {
  const started = options.now();
  const { only, profiles, shard, flags, strict, minChecked: min_checked } = options;
  const rules = rulesOfPart(options.rules, shard, target);
  const ending = new Ending(options.signal);
  const watching = options.rules.filter((rule) => rule.watch !== undefined);
  const watcher = new Watcher(watching);
  const likeness = new RepeatedResponse();
  const requestsByRule = new Map<string, number>();
  const missing = new MissingRoutes();
  const log = new RequestLog(options.now);
  const { latency = new Latency() } = options;
  let [requests, tried] = [0, 0];
  const reportProgress = () =>
    options.onProgress?.({ done: tried, total: rules.length, requests, waitingSeconds: client.throttling.left });
  const client = new Client({
    limiter: options.limiter,
    timeout: options.timeout,
    connections: Math.max(2, options.width * 2),
    signal: ending.signal,
    baseUrl: target.baseUrl,
    sleep: (milliseconds) => sleep(milliseconds, undefined, { signal: ending.signal }),
    onEnd: (reason) => ending.end(reason),
    onPause: reportProgress,
    onRequest: (rule) => {
      requests += 1;
      requestsByRule.set(rule, (requestsByRule.get(rule) ?? 0) + 1);
      reportProgress();
    },
    onExchange: (exchange) => {
      if (!exchange.injected) {
        latency.add(exchange.milliseconds);
        options.adaptive?.see(quotaOf(exchange));
      }
      for (const observer of [watcher, likeness, missing, log]) observer.see(exchange);
    },
  });
  const context = contextOf(target, options, client, latency, ending);
  const runner = new RuleRunner(context, rules, options, {
    ending,
    watcher,
    log,
    requests: requestsByRule,
    onTried: (count) => {
      tried = count;
      reportProgress();
    },
  });
  const { results, variants } = await runner.runAll();
  await client.close();
  const cleanup = await removeScratch(target, options, ending, () => {
    requests += 1;
  });
  const counts = countVerdicts(results);
  const setup = [...context.brokenSteps].map(([name, step]) => describeStep(name, step, target));
  const { reason } = ending;
  const alike = likeness.notices();
  const ended = reason && { by: reason.by, reason: reason.message };
  const interrupted = options.signal.aborted;
  const git_client = options.gitClient;
  const mode = { write: target.write, strict, ...defined({ only, profiles, git_client, min_checked, shard, flags }) };
  // Remove secrets from the whole report, because the target's responses can repeat credentials that the suite sent.
  return redactValue({
    ...beginReport(started, options.now()),
    target: {
      base_url: target.baseUrl,
      git_url: target.gitUrl,
      org: target.org,
      emulator: target.adminUrl !== undefined,
    },
    mode,
    budget: options.budget ?? { requests },
    requests,
    throttled_seconds: Math.round(client.throttling.heldSeconds),
    interrupted,
    ...defined({ ended }),
    // If all responses are alike, every route seems to be missing. Notices about missing routes would then add nothing.
    notices: alike.length > 0 ? alike : missing.notices(),
    setup,
    cleanup,
    counts,
    coverage: coverageOf(counts),
    profiles: profileResults({ rules: results }),
    variants,
    rules: results,
    watched: watching.map(({ id }) => describeWatch(id, watcher.of(id), target)),
    exit_code: exitCodeOf(counts, { strict, interrupted, ended, setup, cleanup, minChecked: minCheckedOf(mode) }),
  });
}

function contextOf(target: Target, options: RunOptions, client: Client, latency: Latency, ending: Ending): RunContext {
  let names = 0;
  const repositories = new Map<string, Promise<void>>();
  const note = async (name: string) => {
    try {
      await options.scratch?.add(name);
      await options.onRepository(name);
    } catch (error) {
      const ended = new RunEnded('suite', error instanceof Error ? error.message : String(error));
      ending.end(ended);
      throw ended;
    }
  };
  return {
    target,
    gitClient: options.gitClient ?? 'js',
    client,
    latency,
    signer: createSigner(target, options.now),
    variants: new Variants(options.pinned),
    fixtures: options.fixtures ?? new Map(),
    attempts: new Map(),
    refusedWrites: new RefusedWrites(),
    brokenSteps: new Map(),
    created: {},
    prefix: options.prefix,
    uniqueName: () => `${options.prefix}/n${++names}`,
    onRepository: (name) => {
      const noted = repositories.get(name) ?? note(name);
      repositories.set(name, noted);
      return noted;
    },
    now: options.now,
    sleep: client.options.sleep,
  };
}

/**
 * Maximum wait in milliseconds for one response while an interrupted run cleans up, on a target with low latency. The
 * limit is short, because the user waits for the command to end, and a target that no longer responds may be why the
 * user interrupted it.
 */
const WHEN_INTERRUPTED = 5000;

const LEFT_BY_CHOICE: Cleanup = { made: 0, removed: 0, left: [] };

/**
 * Deletes the repositories that the run created, also after an early end. Keeps them if the option `keep` is set, or if
 * the target is gone. The result lists the remaining repositories and the reason.
 */
async function removeScratch(
  target: Target,
  options: RunOptions,
  { reason }: Ending,
  onRequest: () => void,
): Promise<Cleanup> {
  const { scratch, timeout, latency = new Latency(), width, keep = false } = options;
  const longest = options.signal.aborted ? latency.scale(WHEN_INTERRUPTED) : timeout;
  const limiter = options.cleanupLimiter ?? options.limiter;
  if (scratch === undefined) return LEFT_BY_CHOICE;
  if (!keep && reason?.by !== 'target') {
    const settings = { limiter, timeout: Math.min(timeout, longest), width: Math.min(width, 4), latency, onRequest };
    return cleanUp(target, scratch, settings);
  }
  const left = scratch.left();
  const why = keep ? { kept: true as const } : { reason: reason?.message ?? '' };
  return { made: scratch.made, removed: scratch.made - left.length, left, ...(left.length > 0 && why) };
}
