import type { Oid } from '../git/object/object.js';
import { type SortedMap, SortedRecords } from './sorted-records.js';

export const DEPLOYMENT_STATUSES = ['queued', 'building', 'ready', 'error', 'canceled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** Status of a deployment, and the time at which the status begins, in milliseconds on the emulator's clock. */
interface PlannedStatus {
  readonly status: DeploymentStatus;
  readonly at: number;
}

export type DeploymentTarget = 'preview' | 'production';

/** @internal */
export interface Deployment {
  readonly id: string;
  /** Number of the deployment in its repository, in order of creation. The first is 1. */
  readonly sequence: number;
  readonly target: DeploymentTarget;
  /** Branch, tag or commit id in the request that created the deployment. */
  readonly ref: string;
  readonly commit: Oid;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly createdAt: number;
  /** Statuses that a test has set, ordered by time. If undefined, the deployment has the default statuses. */
  readonly statuses?: readonly PlannedStatus[] | undefined;
}

/**
 * Returns the status of a deployment at the time `now`, and the time at which that status began. By default, a
 * deployment is `queued` in the millisecond of its creation, and `ready` afterwards. The emulator builds nothing.
 * @internal
 */
export function statusOf({ statuses = [], createdAt }: Deployment, now: number): PlannedStatus {
  const set = statuses.findLast(({ at }) => at <= now);
  if (set) return set;
  return now > createdAt ? { status: 'ready', at: createdAt + 1 } : { status: 'queued', at: createdAt };
}

/** Request to deploy that has an idempotency key, and the deployment that it created. */
export interface KeyedRequest {
  /**
   * Canonical text of the request. A later request with the same key counts as a repetition only if its text is equal.
   */
  readonly request: string;
  readonly id: string;
}

/** Deployments (simulated publications of a commit) of one repository, in order of creation. @internal */
export type Deployments = SortedRecords<number, Deployment>;

/** @internal */
export const NO_DEPLOYMENTS: Deployments = new SortedRecords(({ sequence }) => sequence);

/** First request with each idempotency key, by key. A repeated request gets the deployment of the first. @internal */
export type KeyedRequests = SortedMap<string, KeyedRequest>;

/**
 * Returns a copy of `deployments` in which one deployment gets another status at the time `at`. If `isPlanned` is true,
 * statuses planned up to that time stay. Otherwise the new status replaces all others. @internal
 */
export function withStatus(
  deployments: Deployments,
  id: string,
  { status, at }: PlannedStatus,
  isPlanned: boolean,
): Deployments {
  const deployment = deployments.get(id)!;
  const planned = isPlanned ? (deployment.statuses ?? []).filter((earlier) => earlier.at <= at) : [];
  return deployments.with({ ...deployment, statuses: [...planned, { status, at }] });
}
