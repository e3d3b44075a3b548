import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter, UNLIMITED } from './http/limiter.js';
import type { Report, RuleResult } from './report/results.js';
import { allRules, selectRules } from './rules/registry.js';
import { checkReady, withAdmin } from './run/preflight.js';
import { readProven } from './run/proof.js';
import { runRules } from './run/runner.js';
import { isLoopback, type Target } from './target/target.js';

export type { Report, RuleResult, TranscriptEntry, Verdict } from './report/results.js';
export { allRules, selectRules } from './rules/registry.js';
export type { Level, Rule, Section } from './rules/rule.js';
export { startEmulator } from './run/emulator-process.js';
export { isEmulator, Unready } from './run/preflight.js';
export { readKey, type SigningKey } from './target/keys.js';
export { originOf, type Target } from './target/target.js';

export interface Options {
  /** Rules to run, by pattern of their ids. Default: all. */
  readonly only?: string;
  /** Whether warnings and tolerated variants fail the run. */
  readonly strict?: boolean;
  /** Milliseconds for one answer. Default 15,000. */
  readonly timeout?: number;
  /** Requests a second. Default: unlimited on this machine, 5 elsewhere. */
  readonly rate?: number;
  /** The flags that name the same target on a command line, for commands that reports print; no secrets. */
  readonly flags?: readonly string[];
  readonly pinned?: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal;
  readonly onRepository?: (name: string) => Promise<void>;
  readonly onResult?: (result: RuleResult, done: number, total: number) => void;
  /** Told how many requests were answered so far. */
  readonly onRequest?: (requests: number) => void;
  /** Told what the run waits for, in words, and `undefined` once it goes on. */
  readonly onWait?: (reason: string | undefined) => void;
}

/** No rule matches the pattern. */
export class EmptySelection extends Error {
  override readonly name = 'EmptySelection';
}

/**
 * Judges a target. Throws `EmptySelection` when no rule is selected and `Unready` when the target does not answer,
 * rejects the key or has another time.
 */
export async function run(given: Target, options: Options = {}): Promise<Report> {
  const rules = selectRules(allRules(), options.only);
  if (rules.length === 0) throw new EmptySelection(`no rule is called ${options.only}`);
  const timeout = options.timeout ?? 15_000;
  await checkReady(given, timeout, Date.now);
  const target = await withAdmin(given, timeout);
  const local = isLoopback(target.baseUrl);
  const rate = options.rate ?? (local ? undefined : 5);
  return runRules(target, {
    rules,
    strict: options.strict ?? false,
    ...(options.only === undefined ? {} : { only: options.only }),
    limiter: rate === undefined ? UNLIMITED : createLimiter(rate, Date.now, (milliseconds) => sleep(milliseconds)),
    width: local ? 8 : 2,
    timeout,
    signal: options.signal ?? new AbortController().signal,
    prefix: `cf-${randomBytes(4).toString('hex')}`,
    onRepository: options.onRepository ?? (() => Promise.resolve()),
    onResult: options.onResult ?? (() => undefined),
    onRequest: options.onRequest ?? (() => undefined),
    onWait: options.onWait ?? (() => undefined),
    ...(options.pinned === undefined ? {} : { pinned: options.pinned }),
    ...(options.flags === undefined ? {} : { flags: options.flags }),
    ...(await readProven()),
    now: Date.now,
  });
}
