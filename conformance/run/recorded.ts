import type { Exchange } from '../http/exchange.js';
import type { HarEntry } from '../http/har.js';
import { knownRouteOf } from '../report/operation.js';
import {
  countVerdicts,
  coverageOf,
  exitCodeOf,
  type Report,
  type RuleResult,
  type Watched,
} from '../report/results.js';
import type { Rule } from '../rules/rule.js';
import { defined } from '../target/json.js';
import { aboutRule, addWatched } from './verdict.js';
import { beginReport } from './version.js';

export interface RecordedOptions {
  /**
   * Rules to apply. Rules without a `watch` function are ignored, because they can only judge requests that they send
   * themselves.
   */
  readonly rules: readonly Rule[];
  readonly strict: boolean;
  readonly only?: string | undefined;
  /** Origin whose requests are checked. Default: requests to Git routes and to paths below `/api/`, at any origin. */
  readonly origin?: string | undefined;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Maximum number of violating entries in the reason of a broken rule. More entries are only counted. */
const MAX_NAMED = 10;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Checks recorded HTTP traffic (HAR entries) with all rules that can judge requests which they did not send themselves.
 * Sends nothing. The report contains only methods, route names, statuses and the origin of the recording, because all
 * other parts of the traffic can contain secrets.
 */
export function checkRecorded(entries: readonly HarEntry[], options: RecordedOptions): Report {
  const started = options.now();
  const checked: { readonly exchange: Exchange; readonly index: number }[] = [];
  const unchecked = new Map<string, number>();
  entries.forEach((entry, index) => {
    const reason =
      'reason' in entry ? entry.reason : isMeant(entry.exchange, options) ? undefined : 'to other addresses';
    if (reason !== undefined) unchecked.set(reason, (unchecked.get(reason) ?? 0) + 1);
    else if ('exchange' in entry) checked.push({ exchange: entry.exchange, index });
  });
  const rules = options.rules.filter((rule) => rule.watch !== undefined).map((rule) => checkRule(rule, checked));
  const counts = countVerdicts(rules);
  const origins = [...new Set(checked.map(({ exchange }) => exchange.origin))];
  const address = options.origin ?? origins[0] ?? 'the recorded traffic';
  const { strict, only } = options;
  return {
    ...beginReport(started, options.now()),
    target: { base_url: address, git_url: address, org: '', emulator: false },
    mode: { write: false, strict, ...defined({ only }) },
    recording: { entries: entries.length, checked: checked.length },
    requests: checked.length,
    interrupted: false,
    notices: [
      ...[...unchecked].map(
        ([reason, count]) => `Not checked: ${count} ${count === 1 ? 'entry' : 'entries'} ${reason}.`,
      ),
      ...(origins.length > 1 ? [`Checked as one service: ${origins.join(', ')}.`] : []),
    ],
    counts,
    coverage: coverageOf(counts),
    variants: {},
    rules,
    exit_code: exitCodeOf(counts, { strict, interrupted: false }),
  };
}

/**
 * Returns true if a recorded request was sent to the service under test. A browser recording also contains requests to
 * other servers. Without the option `origin`, only API and Git requests count.
 */
function isMeant(exchange: Exchange, { origin }: RecordedOptions): boolean {
  if (origin !== undefined) return exchange.origin === origin;
  return exchange.git || /^\/api\//.test(exchange.path);
}

function checkRule(
  rule: Rule,
  recorded: readonly { readonly exchange: Exchange; readonly index: number }[],
): RuleResult {
  let responses = 0;
  let evidence: Watched['evidence'] = 'observed';
  const broken: string[] = [];
  for (const { exchange, index } of recorded) {
    if (exchange.injected && rule.reach !== 'emulator') continue;
    const verdict = rule.watch?.(exchange);
    if (verdict === undefined) continue;
    responses += 1;
    if (exchange.injected) evidence = 'injected';
    if (verdict !== true) broken.push(nameOf(exchange, index));
  }
  const more = broken.length - MAX_NAMED;
  const named = more > 0 ? [...broken.slice(0, MAX_NAMED), `and ${more} more`] : broken;
  const seen: Watched = {
    id: rule.id,
    answers: responses,
    evidence,
    ...(broken.length > 0 && { broken: { evidence } }),
  };
  return {
    ...aboutRule(rule),
    read_only: true,
    ...addWatched(rule.level, undefined, seen),
    ...(broken.length > 0 && { reason: `violated by ${broken.length} of ${responses} responses: ${named.join('; ')}` }),
    milliseconds: 0,
  };
}

/**
 * Returns the name of a recorded entry for the report, such as `entry 3 (GET /api/v1/repo, 404)`. The first entry has
 * the number 1.
 */
function nameOf({ method, path, status }: Exchange, index: number): string {
  const route = knownRouteOf(path.replace(/[?#].*/s, '')) ?? 'another route';
  return `entry ${index + 1} (${METHODS.includes(method) ? method : 'another method'} ${route}, ${status})`;
}
