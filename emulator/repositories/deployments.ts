import type { Oid } from '../git/object/object.js';
import { type SortedMap, SortedRecords } from './sorted-records.js';

export const DEPLOYMENT_STATUSES = ['queued', 'building', 'ready', 'error', 'canceled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** Status of a deployment, and the time at which the deployment gets it, in milliseconds on the emulator's clock. */
interface PlannedStatus {
  readonly status: DeploymentStatus;
  readonly at: number;
}

export type DeploymentTarget = 'preview' | 'production';

/** @internal */
export interface Deployment {
  readonly id: string;
  /** Number of the deployment in the order of creation within its repository, starting at 1. */
  readonly sequence: number;
  readonly target: DeploymentTarget;
  /** Name of the branch or tag, or commit id, that the request to deploy contained. */
  readonly ref: string;
  readonly commit: Oid;
  /** Time of creation in milliseconds on the emulator's clock. */
  readonly createdAt: number;
  /**
   * Statuses that a test has set, in the order of their times; undefined if the deployment goes through the default
   * statuses.
   */
  readonly statuses?: readonly PlannedStatus[] | undefined;
}

/**
 * Returns the status of a deployment at the time `now`, and the time at which the deployment got it. The emulator does
 * not build anything. By default, a deployment is `queued` in the millisecond of its creation, and `ready` afterwards.
 * @internal
 */
export function statusOf({ statuses = [], createdAt }: Deployment, now: number): PlannedStatus {
  const set = statuses.findLast(({ at }) => at <= now);
  if (set) return set;
  return now > createdAt ? { status: 'ready', at: createdAt + 1 } : { status: 'queued', at: createdAt };
}

/** Request to deploy with an idempotency key, and the deployment that it created. */
export interface KeyedRequest {
  /** Request in a canonical form. A later request with the key must have an equal form to count as a repetition. */
  readonly request: string;
  readonly id: string;
}

/** Deployments (simulated publications of a commit) of one repository, in the order of creation. @internal */
export type Deployments = SortedRecords<number, Deployment>;

/** @internal */
export const NO_DEPLOYMENTS: Deployments = new SortedRecords(({ sequence }) => sequence);

/**
 * First request with each idempotency key, by the key. A repetition gets the deployment of the first request. @internal
 */
export type KeyedRequests = SortedMap<string, KeyedRequest>;

/**
 * Returns a copy of `deployments` in which one deployment gets a further status at the time `at`. If `isPlanned` is
 * true, statuses that were planned for earlier times stay. Otherwise all are replaced. @internal
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
