import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner } from '../auth/tokens.js';
import { RefusedWrites } from '../check/refused-writes.js';
import { RuleContext } from '../check/rule-context.js';
import type { RunContext } from '../check/run-context.js';
import { Variants } from '../check/variants.js';
import { Client } from '../http/client.js';
import type { Limiter } from '../http/limiter.js';
import { countVerdicts, exitCodeOf, type Report, type RuleResult } from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import type { Target } from '../target/target.js';
import { judgeReturned, judgeThrown, judgeWatched, type RuleVerdict, reasonToSkip } from './judge.js';
import { version } from './version.js';
import { Watcher } from './watcher.js';

export interface RunOptions {
  readonly rules: readonly Rule[];
  readonly strict: boolean;
  readonly only?: string;
  readonly limiter: Limiter;
  /** Groups of rules that run side by side. */
  readonly width: number;
  /** Milliseconds for one answer, and four times that for one rule. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** First part of the name of every repository the run makes. */
  readonly prefix: string;
  readonly onRepository: (name: string) => Promise<void>;
  readonly onResult: (result: RuleResult, done: number, total: number) => void;
  /** Members recorded by an earlier run. */
  readonly pinned?: ReadonlyMap<string, string>;
  readonly now: () => number;
  /** Fixtures of an earlier run against the same repositories. Default: none. */
  readonly fixtures?: RunContext['fixtures'];
}

/** More broken rules than this are not tried a second time: it is not chance. */
const MOST_RETRIED = 20;

/** Judges a target by every rule given. */
export async function runRules(target: Target, options: RunOptions): Promise<Report> {
  const started = options.now();
  setMaxListeners(0, options.signal); // one for each request under way
  const watcher = new Watcher(options.rules.filter((rule) => rule.watch !== undefined));
  let requests = 0;
  const client = new Client({
    limiter: options.limiter,
    timeout: options.timeout,
    connections: Math.max(2, options.width * 2),
    signal: options.signal,
    sleep: (milliseconds) => sleep(milliseconds, undefined, { signal: options.signal }),
    onExchange: (exchange) => {
      requests += 1;
      watcher.see(exchange);
    },
  });
  let names = 0;
  const context: RunContext = {
    target,
    client,
    signer: createSigner(target, options.now),
    variants: new Variants(options.pinned),
    refusedWrites: new RefusedWrites(),
    fixtures: options.fixtures ?? new Map(),
    prefix: options.prefix,
    uniqueName: () => `${options.prefix}/n${++names}`,
    onRepository: options.onRepository,
    now: options.now,
    sleep: client.options.sleep,
  };

  const run = new RuleRunner(context, options, watcher);
  await run.runAll();
  await client.close();
  const results = options.rules.flatMap(({ id }) => run.results.get(id) ?? []);
  const counts = countVerdicts(results);
  const interrupted = options.signal.aborted;
  return {
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
      strict: options.strict,
      ...(options.only === undefined ? {} : { only: options.only }),
    },
    requests,
    interrupted,
    counts,
    variants: context.variants.entries(),
    rules: results,
    exit_code: exitCodeOf(counts, { strict: options.strict, interrupted }),
  };
}

class RuleRunner {
  readonly results = new Map<string, RuleResult>();
  readonly #verdicts = new Map<string, { verdict: RuleVerdict; milliseconds: number }>();
  #done = 0;

  constructor(
    readonly context: RunContext,
    readonly options: RunOptions,
    readonly watcher: Watcher,
  ) {}

  /** Groups side by side, rules of a group in turn, rules that want to be alone after that, then second tries. */
  async runAll(): Promise<void> {
    const { rules } = this.options;
    const active = rules.filter((rule) => rule.check !== undefined);
    const groups = [...groupBy(active.filter((rule) => rule.alone !== true)).values()].sort(
      (a, b) => b.length - a.length,
    );
    await Promise.all(
      Array.from({ length: this.options.width }, async () => {
        for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
          for (const rule of group) await this.#runOne(rule);
        }
      }),
    );
    for (const rule of active) if (rule.alone === true) await this.#runOne(rule);
    await this.#retryBroken(active);
    for (const rule of rules) this.#report(rule);
  }

  async #runOne(rule: Rule): Promise<void> {
    if (this.options.signal.aborted) return;
    const started = performance.now();
    const verdict = await this.#judge(rule);
    this.#verdicts.set(rule.id, { verdict, milliseconds: Math.round(performance.now() - started) });
    if (rule.watch === undefined && verdict.verdict !== 'fail') this.#report(rule);
  }

  async #judge(rule: Rule): Promise<RuleVerdict> {
    const reason = reasonToSkip(rule, this.context.target);
    if (reason !== undefined || rule.check === undefined)
      return { verdict: 'skip', reason: reason ?? 'not written yet' };
    const t = new RuleContext(rule, this.context);
    const limit = new AbortController();
    try {
      const deadline = sleep(this.options.timeout * 4, undefined, { signal: limit.signal }).then(() => {
        throw new Error(`no verdict within ${(this.options.timeout * 4) / 1000} s`);
      });
      deadline.catch(() => undefined);
      await Promise.race([rule.check(t), deadline]);
      return judgeReturned(rule, t);
    } catch (error) {
      return judgeThrown(rule, t, error);
    } finally {
      limit.abort();
    }
  }

  /** A broken rule gets one more try, alone. What passes then is no pass: it is flaky. */
  async #retryBroken(active: readonly Rule[]): Promise<void> {
    const broken = active.filter((rule) =>
      ['fail', 'error'].includes(this.#verdicts.get(rule.id)?.verdict.verdict ?? ''),
    );
    if (broken.length > MOST_RETRIED) return;
    for (const rule of broken) {
      const first = this.#verdicts.get(rule.id);
      if (first === undefined || this.options.signal.aborted) continue;
      const second = await this.#judge(rule);
      if (['fail', 'error', 'skip', 'blocked'].includes(second.verdict)) continue;
      const verdict = {
        ...first.verdict,
        verdict: 'flaky' as const,
        reason: `${first.verdict.reason} (passed when tried again alone)`,
      };
      this.#verdicts.set(rule.id, { ...first, verdict });
    }
  }

  #report(rule: Rule): void {
    if (this.results.has(rule.id)) return;
    const own = this.#verdicts.get(rule.id);
    let verdict = own?.verdict;
    if (rule.watch !== undefined) verdict = judgeWatched(rule, verdict, this.watcher.of(rule.id), this.context.target);
    verdict ??= {
      verdict: 'skip',
      reason:
        reasonToSkip(rule, this.context.target) ?? (this.options.signal.aborted ? 'interrupted' : 'not written yet'),
    };
    const { id, section, says, level, reach } = rule;
    const result = {
      id,
      section,
      says,
      level,
      reach,
      read_only: !rule.writes,
      ...verdict,
      milliseconds: own?.milliseconds ?? 0,
    };
    this.results.set(id, result);
    this.#done += 1;
    this.options.onResult(result, this.#done, this.options.rules.length);
  }
}

function groupBy(rules: readonly Rule[]): Map<string, Rule[]> {
  const groups = new Map<string, Rule[]>();
  for (const rule of rules) {
    const group = groups.get(rule.group);
    if (group === undefined) groups.set(rule.group, [rule]);
    else group.push(rule);
  }
  return groups;
}
