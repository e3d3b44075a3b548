import { problemCodes } from '../../http/problem.js';
import { pauseBetween, type SeenRequest } from '../seen-request.js';
import { type ClientRule, clientOf, codeOf, type Occasion } from './rule.js';

/** Timers may be early by that much. */
const SLACK = 10;

/** Retries before a client has to wait between them. */
const AT_ONCE = 100;

export const RETRY_RULES: readonly ClientRule[] = [
  {
    id: 'retry-after',
    title: 'A request is not repeated before the time that Retry-After names',
    source: 'Limits (Rate limiting: Retry-After is the minimum delay); Errors (repository_thawing); RFC 9110, 10.2.3',
    level: 'must',
    *evaluate(seen) {
      for (const request of seen) {
        const earlier = request.retryOf;
        const wanted = earlier?.retryAfter;
        if (!earlier || wanted === undefined) continue;
        const pause = pauseBetween(earlier, request);
        const fault =
          pause + SLACK < wanted
            ? `It came ${Math.round(pause)} ms after the answer to ${earlier.record.id}, which asked for ${wanted} ms.`
            : undefined;
        yield { request, earlier, fault };
      }
    },
  },
  {
    id: 'back-off',
    title: 'The pauses between the retries of a request grow',
    source: 'File metadata (503: retry with backoff); RFC 9110, 15.6.4',
    level: 'should',
    *evaluate(seen) {
      const repeated = new Set(seen.map(({ retryOf }) => retryOf));
      for (const request of seen) {
        if (repeated.has(request)) continue;
        const pauses = pausesBefore(request);
        if (pauses.length > 1) yield { request, earlier: request.retryOf, fault: faultOf(pauses) };
      }
    },
  },
  {
    id: 'hopeless-retry',
    title: 'What cannot succeed is not repeated unless the request, the token or the state changed',
    source: 'Errors (generic and specific codes); File metadata (429); RFC 9110, 15.5',
    level: 'must',
    *evaluate(seen) {
      yield* repetitions(seen, (earlier) => isKnown(codeOf(earlier)) && isHopeless(earlier));
    },
  },
  {
    id: 'unknown-code',
    title: 'A code that is not known is treated as the generic code of its status',
    source: 'Errors, rule 3; Versioning',
    level: 'must',
    *evaluate(seen) {
      yield* repetitions(seen, (earlier) => !isKnown(codeOf(earlier)) && isClientError(earlier));
    },
  },
  {
    id: 'git-retry',
    title: 'A push is not sent again before the refs were looked at again',
    source: 'Git over HTTPS; RFC 9110, 9.2.2 (a client should not repeat by itself what is not idempotent)',
    level: 'must',
    *evaluate(seen) {
      for (const [at, request] of seen.entries()) {
        const earlier = request.retryOf;
        if (!earlier || request.record.operation !== 'gitReceivePack') continue;
        const between = seen.slice(seen.indexOf(earlier) + 1, at);
        const looked = between.some((other) => isAdvertisement(other) && clientOf(other) === clientOf(request));
        const fault = looked ? undefined : `It repeats the push ${earlier.record.id}, which may have been carried out.`;
        yield { request, earlier, fault };
      }
    },
  },
];

function isAdvertisement({ record: { git } }: SeenRequest): boolean {
  return git?.phase === 'advertise' && git.service === 'git-receive-pack';
}

/** The pauses of a chain of retries in which nothing else says how long to wait. */
function pausesBefore(last: SeenRequest): number[] {
  const pauses: number[] = [];
  for (let request = last; request.retryOf; request = request.retryOf) {
    if (request.retryOf.retryAfter === undefined && mayPass(request.retryOf)) {
      pauses.unshift(pauseBetween(request.retryOf, request));
    }
  }
  return pauses;
}

/** Whether the same request may succeed later. */
function mayPass(seen: SeenRequest): boolean {
  const { status, outcome } = seen.record;
  if (outcome === 'cut' || outcome === 'gone' || status >= 500 || status === 408 || status === 429) return true;
  return ['sync_in_progress', 'repository_thawing', 'authentication_unavailable'].includes(codeOf(seen) ?? '');
}

function faultOf(pauses: readonly number[]): string | undefined {
  const [first, ...rest] = pauses as [number, ...number[]];
  const shown = `pauses of ${pauses.map(Math.round).join(', ')} ms`;
  if (pauses.every((pause) => pause < AT_ONCE)) return `It was repeated ${pauses.length} times with ${shown}.`;
  // Of two pauses chance may have made the second the shorter one.
  if (pauses.length > 2 && Math.max(...rest) < first * 1.2) return `Its ${shown} do not grow.`;
  return undefined;
}

const KNOWN: ReadonlySet<string> = new Set(problemCodes().map(({ code }) => code));

function isKnown(code: string | undefined): boolean {
  // The codes of the forge begin with the name of a vendor.
  return code === undefined || KNOWN.has(code) || /_(?:app_not_configured|repository_inaccessible)$/.test(code);
}

/** 408 and 429 say by their status that a request may be repeated. */
function isClientError({ record: { status } }: SeenRequest): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

const HOPELESS: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 413, 415, 422]);

function isHopeless(seen: SeenRequest): boolean {
  const { status, operation } = seen.record;
  if (status === 429) return operation === 'fileMetadata' && seen.retryAfter === undefined;
  return HOPELESS.has(status) && codeOf(seen) !== 'authentication_unavailable';
}

/** Requests that repeat one that `isFinal`. */
function* repetitions(seen: readonly SeenRequest[], isFinal: (earlier: SeenRequest) => boolean): Iterable<Occasion> {
  const writes = seen.filter(isWrite);
  for (const request of seen) {
    const earlier = request.retryOf;
    if (!earlier || !isFinal(earlier) || earlier.record.token?.digest !== request.record.token?.digest) continue;
    // What a client was told by a fault it could not know to be one.
    const hasChanged = request.record.status < 400 && !earlier.record.origin.startsWith('injected:');
    const { sequence } = request.record;
    const wrote = writes.some(
      ({ record }) =>
        record.sequence > earlier.record.sequence &&
        record.sequence < sequence &&
        record.organization === request.record.organization,
    );
    const code = codeOf(earlier) ?? '';
    const fault =
      hasChanged || wrote
        ? undefined
        : `It repeats ${earlier.record.id}, which was answered with ${earlier.record.status} ${code}, and nothing had changed.`;
    yield { request, earlier, fault };
  }
}

/** Whether it may have changed what another request is answered with. */
function isWrite({ record: { method, status, operation, git } }: SeenRequest): boolean {
  if (method === 'GET' || method === 'HEAD' || status >= 300) return false;
  return git === undefined ? operation !== 'grep' && operation !== 'archive' : git.service === 'git-receive-pack';
}
