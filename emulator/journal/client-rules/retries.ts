import { problemCodes, specifiedCode } from '../../http/problem.js';
import { pauseBetween, type SeenRequest } from '../seen-request.js';
import { type ClientRule, clientOf, type Evaluation, mayFollow, TOLERANCE } from './rule.js';

/**
 * Minimum for the longest pause between the retries of a request, in milliseconds. If all pauses are shorter, the
 * client does not wait before its retries.
 */
const MIN_LONGEST_PAUSE = 100;

/** Maximum number of pauses that a violation message lists. */
const MAX_LISTED_PAUSES = 20;

export const RETRY_RULES: readonly ClientRule[] = [
  {
    id: 'retry-after',
    title: 'A request is not repeated before the delay in Retry-After has passed',
    source: 'rate.429.retry-after; err.thawing.retry-after; RFC 9110, section 10.2.3',
    level: 'must',
    evaluate: () => (request) => {
      const earlier = request.retryOf;
      const wanted = earlier?.retryAfter;
      if (!earlier || wanted === undefined) return undefined;
      const pause = pauseBetween(earlier, request);
      const violation =
        pause + TOLERANCE < wanted
          ? `The request was sent ${Math.round(pause)} ms after the response to ${earlier.record.id}, but its Retry-After requires ${wanted / 1000} s.`
          : undefined;
      return { request, earlier, violation };
    },
  },
  {
    id: 'back-off',
    title: 'The pauses between the retries of a request grow',
    source: '3. File metadata (filemeta.err.503.replica, filemeta.err.503.storage); RFC 9110, section 15.6.4',
    level: 'should',
    evaluate() {
      const pausesBefore = new Map<SeenRequest, Pauses>();
      return (request) => {
        const earlier = request.retryOf;
        if (!earlier) return undefined;
        const before = pausesBefore.get(earlier);
        // Counts only pauses whose length the client chose. Pauses after `Retry-After` or a permanent error do not
        // count.
        const isOwnChoice = earlier.retryAfter === undefined && maySucceedLater(earlier);
        const pauses = isOwnChoice ? withPause(before, pauseBetween(earlier, request)) : before;
        if (pauses === undefined) return undefined;
        if (request.isRepeated) pausesBefore.set(request, pauses);
        else if (pauses.count > 1) return { request, earlier, violation: violationOf(pauses) };
        return undefined;
      };
    },
  },
  {
    id: 'hopeless-retry',
    title: 'A request that cannot succeed is not repeated unless the request, the token or the state has changed',
    source: 'err.generic-when-no-specific; filemeta.err.429.too-many; RFC 9110, section 15.5',
    level: 'must',
    evaluate: () => repetitionRule((earlier) => isPermanentError(earlier) && isKnown(earlier.code)),
  },
  {
    id: 'unknown-code',
    title: 'An unknown error code is treated like the generic code of its status',
    source: 'err.new-codes; err.generic-when-no-specific',
    level: 'must',
    evaluate: () => repetitionRule((earlier) => isClientError(earlier) && !isKnown(earlier.code)),
  },
  {
    id: 'git-retry',
    title: 'A failed push is not repeated before the refs are read again',
    source: 'Git over HTTPS; RFC 9110, section 9.2.2 (a client should not automatically retry non-idempotent requests)',
    level: 'must',
    evaluate() {
      const lastRefReads = new Map<string, number>();
      return (request) => {
        const { operation, started } = request.record;
        if (isAdvertisement(request)) lastRefReads.set(clientOf(request), started);
        const earlier = request.retryOf;
        if (!earlier || operation !== 'gitReceivePack') return undefined;
        const hasReadRefs = mayFollow(lastRefReads.get(clientOf(request)) ?? 0, earlier);
        const violation = hasReadRefs
          ? undefined
          : `The push repeats ${earlier.record.id}, which may have succeeded, and the client did not read the refs in between.`;
        return { request, earlier, violation };
      };
    },
  },
];

/** Returns true if the request reads the refs before a push. */
function isAdvertisement({ record: { git } }: SeenRequest): boolean {
  return git?.phase === 'advertise' && git.service === 'git-receive-pack';
}

/** Pauses between a request and its successive retries, in milliseconds. */
interface Pauses {
  readonly count: number;
  readonly first: number;
  readonly longestLater: number;
  /** Lengths of the first pauses, at most `MAX_LISTED_PAUSES`. */
  readonly listed: readonly number[];
}

function withPause(before: Pauses | undefined, pause: number): Pauses {
  if (!before) return { count: 1, first: pause, longestLater: 0, listed: [pause] };
  const { count, first, longestLater, listed } = before;
  return {
    count: count + 1,
    first,
    longestLater: Math.max(longestLater, pause),
    listed: listed.length < MAX_LISTED_PAUSES ? [...listed, pause] : listed,
  };
}

/** Returns true if the same request may succeed later, although the client changes nothing. */
function maySucceedLater(seen: SeenRequest): boolean {
  const { status, outcome } = seen.record;
  if (outcome === 'cut' || outcome === 'gone' || status >= 500 || status === 408 || status === 429) return true;
  return ['sync_in_progress', 'repository_thawing', 'authentication_unavailable'].includes(seen.code ?? '');
}

/**
 * Returns a description of the violation if the client does not wait longer from retry to retry; undefined otherwise.
 */
function violationOf({ count, first, longestLater, listed }: Pauses): string | undefined {
  const more = count > listed.length ? ', …' : '';
  const shown = `pauses of ${listed.map(Math.round).join(', ')}${more} ms`;
  if (Math.max(first, longestLater) < MIN_LONGEST_PAUSE)
    return `The request was repeated ${count} times with ${shown}.`;
  // Needs at least three pauses, because the second of two pauses can be shorter by chance.
  if (count > 2 && longestLater < first * 1.2)
    return `The retries have ${shown}, but each pause should be longer than the one before.`;
  return undefined;
}

const KNOWN_CODES: ReadonlySet<string> = new Set(problemCodes().map(({ code }) => code));

function isKnown(code: string | undefined): boolean {
  // Accepts codes with the name of a code host, such as `github_app_not_configured`.
  return code === undefined || KNOWN_CODES.has(code) || /_(?:app_not_configured|repository_inaccessible)$/.test(code);
}

/** Returns true for a 4xx status. Excludes 408 and 429, after which a client may repeat the request. */
function isClientError({ record: { status } }: SeenRequest): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

const PERMANENT_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422]);

/**
 * Error codes of temporary states of the service. These states end without any action of the client, so repeating the
 * request is allowed.
 */
const TEMPORARY_CODES: ReadonlySet<string> = new Set([
  'authentication_unavailable',
  'repository_thawing',
  'sync_in_progress',
  'forge_repository_inaccessible',
]);

/** Returns true if the response says that the same request can never succeed. */
function isPermanentError(seen: SeenRequest): boolean {
  const { status, operation } = seen.record;
  if (status === 429) return operation === 'fileMetadata' && seen.retryAfter === undefined;
  return PERMANENT_STATUSES.has(status) && !TEMPORARY_CODES.has(specifiedCode(seen.code ?? ''));
}

/**
 * Returns true if the request was refused because the repository was not in the expected state. If the client reads the
 * state again, a new attempt may succeed.
 */
function isConflict({ record: { status } }: SeenRequest): boolean {
  return status === 409 || status === 412;
}

/**
 * Returns the evaluation of a rule that forbids certain retries. A retry breaks the rule if `isFinal` returns true for
 * the earlier request, and nothing has changed since then.
 */
function repetitionRule(isFinal: (earlier: SeenRequest) => boolean): Evaluation {
  const lastWrites = new Map<string | undefined, number>();
  const lastReads = new Map<string, number>();
  return (request) => {
    const { organization, sequence, started, status, token } = request.record;
    const reader = `${organization}\0${token?.subject ?? ''}`;
    const lastWrite = lastWrites.get(organization) ?? 0;
    const lastRead = lastReads.get(reader) ?? 0;
    if (isWrite(request)) lastWrites.set(organization, Math.max(lastWrite, sequence));
    else if (status < 400) lastReads.set(reader, started);
    const earlier = request.retryOf;
    if (!earlier || earlier.record.token?.digest !== token?.digest || !isFinal(earlier)) return undefined;
    // If a retry succeeds, something must have changed. This does not hold after an injected error, because the client
    // could not know that the error was injected.
    const hasChanged = status < 400 && !earlier.record.origin.startsWith('injected:');
    const hasWritten = lastWrite > earlier.record.sequence;
    const hasReadState = isConflict(earlier) && mayFollow(lastRead, earlier);
    const code = earlier.code === undefined ? '' : ` ${earlier.code}`;
    const violation =
      hasChanged || hasWritten || hasReadState
        ? undefined
        : `The request repeats ${earlier.record.id}, whose response was ${earlier.record.status}${code}, although nothing has changed.`;
    return { request, earlier, violation };
  };
}

/** Returns true if the request may have changed the responses to later requests. */
function isWrite({ record: { method, status, operation, git } }: SeenRequest): boolean {
  if (method === 'GET' || method === 'HEAD' || status >= 300) return false;
  return git === undefined ? operation !== 'grep' && operation !== 'archive' : git.service === 'git-receive-pack';
}
