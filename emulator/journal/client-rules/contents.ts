import { operationFacts } from '../../config/operation-ids.js';
import { beganAfterEnd, endOf } from '../record.js';
import type { SeenRequest } from '../seen-request.js';
import { type ClientRule, clientOf, isLost, mayFollow } from './rule.js';

export const CONTENT_RULES: readonly ClientRule[] = [
  {
    id: 'cursor-verbatim',
    title: 'A cursor is sent back unchanged',
    source: 'limit.page.next_cursor',
    level: 'must',
    evaluate() {
      const sources = new Map<string, SeenRequest>();
      const truncatedOperations = new Set<string | undefined>();
      return (request) => {
        const { operation, status } = request.record;
        if (!operationFacts(operation).pages) return undefined;
        const cursor = cursorOf(request);
        const source = cursor === undefined ? undefined : sources.get(cursor);
        // If a response of the operation was too long to be stored, its cursors are unknown. Any cursor that the server
        // accepts is then also accepted here.
        const isKnown =
          (source && mayFollow(request.record.started, source)) || (truncatedOperations.has(operation) && status < 300);
        if (status < 300) {
          const response = request.responseJson;
          if (response === undefined) truncatedOperations.add(operation);
          else for (const each of cursorsIn(response)) sources.set(each, earlierEnd(request, sources.get(each)));
        }
        if (cursor === undefined) return undefined;
        return { request, violation: isKnown ? undefined : 'The cursor of the request is in no earlier response.' };
      };
    },
  },
  {
    id: 'expected-head',
    title: 'A write whose response was lost is repeated with its expected head, and not made twice',
    source: 'pack.expected_head.mismatch; restore.expected_head.mismatch; note.expected.mismatch',
    level: 'must',
    evaluate() {
      const lost = new Map<string, SeenRequest>();
      return (request) => {
        const members = operationFacts(request.record.operation).expects;
        if (members === undefined) return undefined;
        const { intent, isExpecting } = readIntent(request, members);
        const key = `${clientOf(request)}\0${request.record.operation}\0${request.record.path}\0${intent}`;
        const earlier = lost.get(key);
        if (isLost(request)) lost.set(key, request);
        if (!earlier || !beganAfterEnd(request.record, earlier.record)) return undefined;
        const isTwice = earlier.record.status < 300 && request.record.status < 300;
        const violation = isTwice
          ? `The request repeats the write of ${earlier.record.id}, whose response was lost although the write had succeeded.`
          : !isExpecting
            ? `The request repeats ${earlier.record.id}, whose response was lost, without ${members[0]}, so it may write twice.`
            : undefined;
        return { request, earlier, violation };
      };
    },
  },
  {
    id: 'idempotency-key',
    title: 'An idempotency key is used for one request only',
    source: 'err.specific.idempotency_key_reused',
    level: 'must',
    evaluate() {
      const uses = new Map<string, SeenRequest>();
      return (request) => {
        const key = request.header('idempotency-key');
        if (key === undefined) return undefined;
        const name = `${clientOf(request)}\0${key}`;
        const earlier = uses.get(name);
        if (!earlier) {
          uses.set(name, request);
          return undefined;
        }
        const isSame = request.isSameAs(earlier);
        const violation = isSame
          ? undefined
          : `The Idempotency-Key of the request was already used for a different request, ${earlier.record.id}.`;
        return { request, earlier, violation };
      };
    },
  },
];

/** Returns the pagination cursor of a request, from its query or body; undefined if absent. */
function cursorOf(request: SeenRequest): string | undefined {
  const { query, body } = request.record;
  if (query.includes('cursor=')) return new URLSearchParams(query).get('cursor') || undefined;
  if (!body) return undefined;
  const json = request.json as { cursor?: unknown; pagination?: { cursor?: unknown } } | undefined;
  const cursor = json?.pagination?.cursor ?? json?.cursor;
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}

/** Returns the request whose response ended first. */
function earlierEnd(one: SeenRequest, other: SeenRequest | undefined): SeenRequest {
  return other && endOf(other.record) <= endOf(one.record) ? other : one;
}

/**
 * Yields all pagination cursors in a JSON response. Iterative, because an injected response can be nested so deeply
 * that recursion would overflow the stack.
 */
function* cursorsIn(response: unknown): IterableIterator<string> {
  const values = [response];
  while (values.length > 0) {
    const value = values.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) values.push(item);
      continue;
    }
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== 'string') values.push(member);
      else if (name === 'next_cursor' || name === 'cursor') yield member;
    }
  }
}

/**
 * Reads what a write request is meant to do. With `members`, a client states which commit it expects the branch to
 * have. `intent` is the body without these members, so it is equal for repetitions of the same write. `isExpecting` is
 * true if at least one of these members is set.
 */
function readIntent(request: SeenRequest, members: readonly string[]): { intent: string; isExpecting: boolean } {
  const text = request.bodyText;
  const end = text.indexOf('\n');
  const first = end < 0 ? text : text.slice(0, end);
  try {
    const line = JSON.parse(first) as Record<string, unknown>;
    const holder = (typeof line.metadata === 'object' && line.metadata !== null ? line.metadata : line) as typeof line;
    const rest = Object.entries(holder).filter(([name]) => !members.includes(name));
    const isExpecting = members.some((name) => typeof holder[name] === 'string' && holder[name] !== '');
    return { intent: `${JSON.stringify(rest)}${end < 0 ? '' : text.slice(end)}`, isExpecting };
  } catch {
    return { intent: text, isExpecting: members.some((name) => text.includes(`"${name}"`)) };
  }
}
