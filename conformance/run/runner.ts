import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner } from '../auth/tokens.js';
import { RefusedWrites } from '../check/refused-writes.js';
import type { RunContext } from '../check/run-context.js';
import { Variants } from '../check/variants.js';
import { Client } from '../http/client.js';
import type { Limiter } from '../http/limiter.js';
import { RunEnded } from '../http/no-answer.js';
import { RequestLog } from '../report/nearest.js';
import { redactValue } from '../report/redact.js';
import {
  type Budget,
  type Cleanup,
  countVerdicts,
  exitCodeOf,
  FORMAT,
  type Report,
  type RuleResult,
  type Shard,
} from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import type { Target } from '../target/target.js';
import { readRecordedRequests, requestsOf } from './budget.js';
import { cleanUp } from './cleanup.js';
import { Likeness, MissingRoutes } from './notices.js';
import { RuleRunner } from './rule-runner.js';
import type { Scratch } from './scratch.js';
import { rulesOfShard } from './shards.js';
import { describeStep, describeWatch } from './verdict.js';
import { version } from './version.js';
import { Watcher } from './watcher.js';

/** How far a run is. */
export interface Progress {
  /** Rules that have been tried, of those that there are. */
  readonly done: number;
  readonly total: number;
  /** Requests sent so far. */
  readonly requests: number;
  /** Seconds until the target, which throttles, is asked again; 0 where it does not. */
  readonly waitingSeconds: number;
}

export interface RunOptions {
  readonly rules: readonly Rule[];
  readonly strict: boolean;
  readonly only?: string;
  /** The flags that name the target, for commands that the report prints. */
  readonly flags?: readonly string[];
  /** Rules that are known to notice a mutant; left out where none is known of any. */
  readonly proven?: ReadonlySet<string>;
  readonly limiter: Limiter;
  /** The same for what is removed at the end, also after an interruption. Default: `limiter`. */
  readonly cleanupLimiter?: Limiter;
  /** Groups of rules that run side by side. */
  readonly width: number;
  /** Milliseconds for one answer, and four times that for the work of one rule. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** First part of the name of every repository the run makes. */
  readonly prefix: string;
  readonly onRepository: (name: string) => Promise<void>;
  readonly onResult: (result: RuleResult, done: number, total: number) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Members recorded by an earlier run. */
  readonly pinned?: ReadonlyMap<string, string>;
  readonly now: () => number;
  /** Fixtures of an earlier run against the same repositories. Default: none. */
  readonly fixtures?: RunContext['fixtures'];
  /** The part of the rules that this run checks. Default: all. */
  readonly shard?: Shard;
  /** Shuffles the rules. */
  readonly seed?: number;
  /** The repositories that the run makes, which it removes at its end. Default: they are left. */
  readonly scratch?: Scratch;
  /** Leaves these repositories on the target. Default: false. */
  readonly keep?: boolean;
  readonly budget?: Budget;
}

/** Checks a target by every rule given. */
export async function runRules(target: Target, options: RunOptions): Promise<Report> {
  const started = options.now();
  const recorded = readRecordedRequests();
  const { shard } = options;
  const rules =
    shard === undefined
      ? options.rules
      : rulesOfShard(options.rules, shard, (rule) => requestsOf(rule, target, recorded));
  const ending = new Ending(options.signal);
  const watching = options.rules.filter((rule) => rule.watch !== undefined);
  const watcher = new Watcher(watching);
  const likeness = new Likeness();
  const requestsByRule = new Map<string, number>();
  const missing = new MissingRoutes();
  const log = new RequestLog(options.now);
  let [requests, tried] = [0, 0];
  const tell = () =>
    options.onProgress?.({ done: tried, total: rules.length, requests, waitingSeconds: client.throttling.left });
  const client = new Client({
    limiter: options.limiter,
    timeout: options.timeout,
    connections: Math.max(2, options.width * 2),
    signal: ending.signal,
    baseUrl: target.baseUrl,
    sleep: (milliseconds) => sleep(milliseconds, undefined, { signal: ending.signal }),
    onEnd: (reason) => ending.end(reason),
    onPause: tell,
    onRequest: (rule) => {
      requests += 1;
      requestsByRule.set(rule, (requestsByRule.get(rule) ?? 0) + 1);
      tell();
    },
    onExchange: (exchange) => {
      watcher.see(exchange);
      likeness.see(exchange);
      missing.see(exchange);
      log.see(exchange);
    },
  });
  const context = contextOf(target, options, client, ending);
  const runner = new RuleRunner(
    context,
    {
      rules,
      width: options.width,
      longest: options.timeout * 4,
      signal: ending.signal,
      ended: () => ending.reason,
      end: (reason) => ending.end(reason),
      seed: options.seed,
      strict: options.strict,
      proven: options.proven,
      log,
      requestsOf: (id) => requestsByRule.get(id) ?? 0,
      onTried: (count) => {
        tried = count;
        tell();
      },
      onResult: (() => {
        let done = 0;
        return (result) => options.onResult(result, ++done, rules.length);
      })(),
    },
    watcher,
  );
  const { results, variants } = await runner.runAll();
  await client.close();
  const cleanup = await removeScratch(target, options, ending);
  const counts = countVerdicts(results);
  const setup = [...context.brokenSteps].map(([name, step]) => describeStep(name, step, target));
  const { reason } = ending;
  const alike = likeness.notices();
  const ended = reason && { by: reason.by, reason: reason.message };
  const { strict } = options;
  const interrupted = options.signal.aborted;
  // Whatever came from the target can hold what was sent to it.
  return redactValue({
    format: FORMAT,
    suite: { name: 'repohost-emulator conformance', version: version() },
    specification: '1.0.0',
    started_at: new Date(started).toISOString(),
    milliseconds: options.now() - started,
    target: {
      base_url: target.baseUrl,
      git_url: target.gitUrl,
      org: target.org,
      emulator: target.adminUrl !== undefined,
    },
    mode: {
      write: target.write,
      strict,
      ...(options.only === undefined ? {} : { only: options.only }),
      ...(shard === undefined ? {} : { shard }),
      ...(options.flags === undefined ? {} : { flags: options.flags }),
    },
    budget: options.budget ?? { requests },
    requests,
    throttled_seconds: Math.round(client.throttling.heldSeconds),
    interrupted,
    ...(ended && { ended }),
    // Where all answers are alike, so are those of each route.
    notices: alike.length > 0 ? alike : missing.notices(),
    setup,
    cleanup,
    counts,
    variants,
    rules: results,
    watched: watching.map(({ id }) => describeWatch(id, watcher.of(id), target)),
    exit_code: exitCodeOf(counts, { strict, interrupted, ended, setup, cleanup }),
  });
}

/** What ends a run before all rules were checked: whoever started it, or a reason of its own. */
class Ending {
  readonly signal: AbortSignal;
  reason: RunEnded | undefined;
  readonly #stop = new AbortController();

  constructor(given: AbortSignal) {
    this.signal = AbortSignal.any([given, this.#stop.signal]);
    setMaxListeners(0, given, this.#stop.signal, this.signal); // one for each request under way
  }

  end(reason: RunEnded): void {
    if (this.signal.aborted) return;
    this.reason = reason;
    this.#stop.abort(reason);
  }
}

function contextOf(target: Target, options: RunOptions, client: Client, ending: Ending): RunContext {
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
    client,
    signer: createSigner(target, options.now),
    variants: new Variants(options.pinned),
    fixtures: options.fixtures ?? new Map(),
    attempts: new Map(),
    refusedWrites: new RefusedWrites(),
    brokenSteps: new Map(),
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

const LEFT_BY_CHOICE: Cleanup = { made: 0, removed: 0, left: [] };

/** Whatever ended the run, what it made is removed; from a target that is gone nothing can be. */
async function removeScratch(target: Target, options: RunOptions, { reason }: Ending): Promise<Cleanup> {
  const { scratch, timeout, width, keep = false } = options;
  const limiter = options.cleanupLimiter ?? options.limiter;
  if (scratch === undefined) return LEFT_BY_CHOICE;
  if (!keep && reason?.by !== 'target')
    return cleanUp(target, scratch, { limiter, timeout, width: Math.min(width, 4) });
  const left = scratch.left();
  const why = keep ? { kept: true as const } : { reason: reason?.message ?? '' };
  return { made: scratch.made, removed: scratch.made - left.length, left, ...(left.length > 0 && why) };
}
