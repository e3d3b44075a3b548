import type { ScenarioDetail } from '@emulator/admin/scenarios.js';
import { times } from '../components/result.js';
import { count } from '../components/time.js';

export type CheckedExpectation = ScenarioDetail['expectations'][number];

/**
 * Describes the current result of an expectation, such as `found 2`, `fired once` or `not applicable yet`. The prefix of
 * `at` is the kind of the expectation: `requests.` for requests, `faults.` for firings, `client.` for client rules.
 */
export function foundText({ at, found }: Pick<CheckedExpectation, 'at' | 'found'>): string {
  if (at.startsWith('faults.')) return `fired ${times(found)}`;
  if (!at.startsWith('client.')) return `found ${count(found)}`;
  if (found === 0) return 'not applicable yet';
  return `applied to ${count(found)} ${found === 1 ? 'request' : 'requests'}`;
}
