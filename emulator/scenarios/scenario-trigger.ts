import { matchesGlob } from '../faults/glob.js';
import { specifiedCode } from '../http/problem.js';
import { isStatus } from '../journal/query.js';
import type { RequestRecord } from '../journal/record.js';
import type { Trigger } from './scenario.js';

/** Request whose response is decided but not sent yet. Steps of scenarios can wait for such a request. */
export interface TriggeringRequest {
  readonly record: RequestRecord;
  readonly organization: string;
  readonly repository: string | undefined;
  readonly scenario: string | undefined;
  /** True if the request's operation can change data. */
  readonly writes: boolean;
}

const BRANCHES = 'refs/heads/';

/**
 * Returns true if a request matches `trigger` (the conditions `on` of a scenario step). `moved` are the full names of
 * the refs that the request moved.
 */
export function isTriggered(
  trigger: Trigger,
  { record, organization, repository, scenario }: TriggeringRequest,
  moved: readonly string[],
): boolean {
  const { op, method, org, repo, push, ref, status, code, fault, scenario: wanted } = trigger;
  const named = record.git?.refs ?? [];
  return (
    isLike(op, record.operation) &&
    isLike(method, record.method) &&
    isLike(org, organization) &&
    isLike(repo, repository) &&
    (isLike(code, record.code) || isLike(code, specifiedCode(record.code ?? ''))) &&
    isLike(wanted, scenario) &&
    (status === undefined || [status].flat().some((one) => isStatus(one, record.status))) &&
    (fault === undefined || record.faults.some((id) => matchesGlob(fault, id))) &&
    (push === undefined || moved.some((name) => name.startsWith(BRANCHES) && isRef(push, name))) &&
    (ref === undefined || [...moved, ...named].some((name) => isRef(ref, name)))
  );
}

/** Returns true if one of the globs in `wanted` matches `found`, or if `wanted` is undefined. */
function isLike(wanted: string | readonly string[] | undefined, found: string | undefined): boolean {
  if (wanted === undefined) return true;
  return found !== undefined && [wanted].flat().some((glob) => matchesGlob(glob, found));
}

/** Returns true if a glob matches a ref by its full name, or by its name without `refs/heads/` or `refs/tags/`. */
function isRef(glob: string, name: string): boolean {
  return matchesGlob(glob, name) || matchesGlob(glob, name.replace(/^refs\/(?:heads|tags)\//, ''));
}
