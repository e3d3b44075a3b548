import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Action, Fault, Match, Matcher } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { REDACTED } from '../journal/redaction.js';
import { type Entry, fieldOf, operationOf, repositoryIn } from './har-archive.js';
import { SCENARIO_LIMITS } from './scenario.js';
import { sequenceFault } from './sequence-fault.js';

/** Action that repeats one recorded response, or the reason why the response cannot be repeated. */
type Repetition = { readonly action: Action } | { readonly reason: string };

interface Exchange {
  readonly entry: Entry;
  readonly operation: FaultedOperation;
  readonly action: Action | 'pass';
}

/** Faults that repeat a recording, and one sentence for each exchange that they do not repeat. */
export interface Replay {
  readonly faults: readonly Fault[];
  readonly notReplayed: readonly string[];
}

/**
 * Returns faults that repeat all responses of a recording of `emulator record`: the n-th request of an operation gets
 * the n-th recorded response. They fire at the stage `headers`, before the token is checked, because the tokens of a
 * replay differ from the recorded ones.
 */
export function faultsOfRecording(entries: readonly Entry[], operations: readonly FaultedOperation[]): Replay {
  const notReplayed: string[] = [];
  const exchanges: Exchange[] = [];
  for (const [index, entry] of entries.entries()) {
    const operation = operationOf(entry.request, operations);
    const repetition = operation ? repetitionOf(entry, operation) : { reason: 'the emulator has no such route' };
    if ('reason' in repetition) notReplayed.push(`${nameOf(entry, index)}: ${repetition.reason}.`);
    if (operation) exchanges.push({ entry, operation, action: 'action' in repetition ? repetition.action : 'pass' });
  }
  const byOperation = [...groupBy(exchanges, ({ operation }) => operation.id).values()];
  const split = byOperation.flatMap((group) => (isConcurrent(group) ? splitByTarget(group) : [withoutTarget(group)]));
  const faults = split.flatMap(faultsOfGroup);
  const isTooMany = faults.length > SCENARIO_LIMITS.faults;
  return { faults: isTooMany ? byOperation.map(withoutTarget).flatMap(faultsOfGroup) : faults, notReplayed };
}

/** Returns the name of an exchange for messages: `Entry 3 (GET /api/v1/repo, 404)`. The first entry has number 1. */
function nameOf({ request: { method, url }, response: { status } }: Entry, index: number): string {
  const path = URL.canParse(url) ? new URL(url).pathname : 'an invalid URL';
  return `Entry ${index + 1} (${method} ${path}, ${status === 0 ? 'no response' : status})`;
}

function repetitionOf(entry: Entry, operation: FaultedOperation): Repetition {
  const { request, response, _emulator = {} } = entry;
  const { status, headers = [], content = {}, _error } = response;
  const { outcome = 'complete', unreached = false, truncated } = _emulator;
  if (unreached) {
    // The recording proxy sent this response, because it could not reach the service.
    return { action: rawOf(502, { 'content-type': 'text/plain' }, bodyOf(content)) };
  }
  const how = outcome === 'gone' ? 'stall' : /RESET/i.test(_error ?? '') ? 'rst' : 'fin';
  if (status === 0) return { action: { cut: { how } } };
  if (status < 200 || status > 599) return { reason: `the status ${status} cannot be simulated` };
  const hasBody = request.method !== 'HEAD' && status !== 204 && status !== 304 && (content.size ?? 0) !== 0;
  if (hasBody && content.text === undefined) {
    const advice = operation.group === 'Git' ? '; record it with --keep-git-bodies' : '';
    return { reason: `the recording does not contain the body of the response${advice}` };
  }
  if (truncated?.answer) {
    return {
      reason: 'the body of the response is longer than the recording keeps; record it with a larger --max-body',
    };
  }
  const body = bodyOf(content);
  const isWhole = outcome !== 'cut' && outcome !== 'gone';
  if (isWhole) return { action: rawOf(status, replayedHeaders(headers), body) };
  const announced = Number(fieldOf(response, 'content-length') ?? Number.NaN);
  const isEncoded = fieldOf(response, 'content-encoding') !== undefined;
  const length = Number.isSafeInteger(announced) && !isEncoded ? Math.max(announced, body.length + 1) : undefined;
  const cut = { how, ...(length !== undefined && { length }) } as const;
  return { action: rawOf(status, replayedHeaders(headers), body, cut) };
}

type Raw = Extract<Action, { readonly raw: unknown }>['raw'];

function rawOf(status: number, headers: Raw['headers'], body: Buffer, cut?: Raw['cut']): Action {
  return {
    raw: {
      status,
      ...(Object.keys(headers ?? {}).length > 0 && { headers }),
      ...(body.length > 0 && { bodyBase64: body.toString('base64') }),
      ...(cut && { cut }),
    },
  } as Action;
}

function bodyOf({ text = '', encoding }: NonNullable<Entry['response']['content']>): Buffer {
  return Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');
}

/**
 * Matches headers that a replay does not copy. They belong to the recorded connection (RFC 9110, section 7.6.1), the
 * HTTP server sets them itself, or they would lead clients to another server. Bodies are recorded without their content
 * encoding.
 */
const NOT_COPIED =
  /^(?:alt-svc|connection|content-encoding|content-length|date|keep-alive|proxy-.*|strict-transport-security|te|trailer|transfer-encoding|upgrade|x-emulator-.*|x-request-id)$/;

/** Returns the recorded headers that a replay sends. Omits headers that contained a secret. Joins repeated headers. */
function replayedHeaders(
  recorded: readonly { readonly name: string; readonly value: string }[],
): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const { name: given, value } of recorded) {
    const name = given.toLowerCase();
    if (NOT_COPIED.test(name) || value.includes(REDACTED) || !isValid(name, value)) continue;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function isValid(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** Exchanges that one fault repeats, with the conditions that select their requests. */
interface Group {
  readonly match: Match;
  readonly exchanges: readonly Exchange[];
}

function withoutTarget(exchanges: readonly Exchange[]): Group {
  return { match: { op: exchanges[0]!.operation.id }, exchanges };
}

/**
 * Returns true if requests with different targets were in progress at the same time. Their order may differ in a
 * replay, so each target must get its own sequence of responses.
 */
function isConcurrent(exchanges: readonly Exchange[]): boolean {
  let [latestEnd, latestTarget] = [Number.NEGATIVE_INFINITY, ''];
  for (const { entry } of exchanges) {
    const began = Date.parse(entry.startedDateTime ?? '');
    const target = targetOf(entry);
    if (began < latestEnd && target !== latestTarget) return true;
    const end = began + (entry.time ?? 0);
    if (end > latestEnd) [latestEnd, latestTarget] = [end, target];
  }
  return false;
}

/** Returns the method and the URL without its origin. */
function targetOf({ request: { method, url } }: Entry): string {
  return `${method} ${url.replace(/^\w+:\/\/[^/]*/, '')}`;
}

function splitByTarget(exchanges: readonly Exchange[]): Group[] {
  const names = new Set(exchanges.flatMap(({ entry }) => [...queryOf(entry).keys()]));
  const matchOf = ({ entry, operation }: Exchange): Match => {
    const { method, url } = entry.request;
    const given = queryOf(entry);
    const query = [...names].map((name): [string, Matcher] => {
      const value = given.get(name);
      if (value === null) return [name, { present: false }];
      return [name, value.includes(REDACTED) ? { present: true } : { equals: value }];
    });
    const repo = repositoryIn(url, operation);
    const http = { method, ...(query.length > 0 && { query: Object.fromEntries(query) }) };
    return { op: operation.id, ...(repo !== undefined && { repo }), http };
  };
  // Groups by the conditions, because they do not contain every part of a target, such as the id of a webhook.
  const groups = groupBy(exchanges, (exchange) => JSON.stringify(matchOf(exchange)));
  return [...groups.values()].map((group) => ({ match: matchOf(group[0]!), exchanges: group }));
}

function queryOf({ request: { url } }: Entry): URLSearchParams {
  return new URL(url).searchParams;
}

/**
 * Returns the faults of a group: one that repeats the responses, and one that delays them if they were late. Both count
 * the same requests at the same stage, so their sequences never diverge.
 */
function faultsOfGroup({ match, exchanges }: Group): Fault[] {
  const responses = exchanges.map(({ action }) => action);
  const delays = exchanges.map(({ entry, action }) => (action === 'pass' ? 'pass' : delayOf(entry)));
  return [delays, responses].flatMap((actions) => sequenceFault({ match, at: 'headers' }, actions));
}

/** Delays below this time, in milliseconds, are not repeated, because clients do not notice them. */
const MIN_DELAY = 500;

/**
 * Returns the delay of a recorded response, rounded to a tenth of a second, or to a second if it is 10 seconds or more.
 * Returns `pass` for a short delay, and for a response for which the client did not wait.
 */
function delayOf({ time = 0, timings, response, _emulator }: Entry): Action | 'pass' {
  const ms = timings?.wait ?? time;
  if (ms < MIN_DELAY || (response.status === 0 && _emulator?.outcome === 'gone')) return 'pass';
  const unit = ms < 10_000 ? 100 : 1_000;
  return { latency: { ms: Math.round(ms / unit) * unit } };
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
