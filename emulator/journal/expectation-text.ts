import { type Bounds, boundsOf, rangeText } from './bounds.js';
import type { RequestExpectation } from './expectations.js';
import type { Member, RequestQuery } from './query.js';

/**
 * Words for each condition on a request, in the order in which a sentence has them. A string is put before the value.
 */
const CONDITIONS: { readonly [Name in Member]: string | ((value: string) => string) } = {
  operation: 'of',
  method: 'with method',
  path: 'to',
  organization: 'to the organization',
  repository: 'for the repository',
  subject: 'by',
  userAgent: 'with user agent',
  'git.service': 'of Git service',
  'git.phase': 'in Git phase',
  'git.command': 'with Git command',
  'git.ref': 'with ref',
  status: 'with status',
  code: 'with code',
  origin: 'with origin',
  fault: (value) => (value === '*' ? 'that a fault affected' : `that the fault ${value} affected`),
  failed: (value) => (value === 'true' ? 'that failed' : 'that did not fail'),
  outcome: 'with outcome',
  since: 'since',
  until: 'until',
  after: 'after',
  before: 'before',
};

/**
 * Describes an expectation about requests in words, such as `at least 2 requests of commitPack with status 201`.
 * Control characters in its values are kept.
 */
export function expectationText(expectation: RequestExpectation): string {
  const { match, order, minGap } = expectation;
  const bounds = boundsOf(expectation);
  const { min, max } = bounds;
  const isOne = min === max ? min === 1 : max === Number.POSITIVE_INFINITY ? min === 1 : max === 1;
  // An expectation with `order` but without a number expects a request at its place in the sequence.
  const isOnlyOrdered = min === 0 && max === Number.POSITIVE_INFINITY && order !== undefined;
  const number = isOnlyOrdered ? 'a' : max === 0 ? 'no' : min === max ? `exactly ${min}` : rangeText(bounds);
  const noun = isOnlyOrdered || isOne ? 'request' : 'requests';
  const place = order === undefined ? '' : `, at place ${order} of the sequence`;
  const gap =
    minGap === undefined
      ? ''
      : minGap === 'retry-after'
        ? ', each not before the time in Retry-After'
        : `, each at least ${minGap} after the previous response`;
  return `${[number, noun, ...conditionTexts(match)].join(' ')}${place}${gap}`;
}

function conditionTexts({ git = {}, ...rest }: RequestQuery): string[] {
  const nested = Object.entries(git).map(([name, value]) => [`git.${name}`, value] as const);
  const values = new Map<string, unknown>([...Object.entries(rest), ...nested]);
  return Object.entries(CONDITIONS).flatMap(([member, words]) => {
    const value = values.get(member);
    if (value === undefined) return [];
    const text = [value].flat().map(String).join(' or ');
    return [typeof words === 'string' ? `${words} ${text}` : words(text)];
  });
}

/** Describes how often a fault is expected to fire, such as `the fault fires exactly 3 times`. */
export function firingText(bounds: Bounds, name = 'the fault'): string {
  const { min, max } = bounds;
  if (max === 0) return `${name} does not fire`;
  const times = (text: string) => (/\b1$/.test(text) ? `${text.slice(0, -1)}once` : `${text} times`);
  return `${name} fires ${times(min === max ? `exactly ${min}` : rangeText(bounds))}`;
}
