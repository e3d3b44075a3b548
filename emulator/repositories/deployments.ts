import type { Oid } from '../git/object/object.js';
import { type SortedMap, SortedRecords } from './sorted-records.js';

export const DEPLOYMENT_STATUSES = ['queued', 'building', 'ready', 'error', 'canceled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** Status of a deployment, and the time from which on it applies, in milliseconds on the world's clock. */
interface PlannedStatus {
  readonly status: DeploymentStatus;
  readonly at: number;
}

export type DeploymentTarget = 'preview' | 'production';

/** @internal */
export interface Deployment {
  readonly id: string;
  /** Position in the order of creation, starting at 1. */
  readonly sequence: number;
  readonly target: DeploymentTarget;
  /** Branch, tag or commit in the request. */
  readonly ref: string;
  readonly commit: Oid;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
  /** Statuses that a test has set, in order of time; undefined if the deployment goes through the default statuses. */
  readonly statuses?: readonly PlannedStatus[] | undefined;
}

/**
 * Returns the status of a deployment at the time `now`, and since when it has it. The emulator does not build anything:
 * by default, a deployment is queued in the millisecond of its creation, and ready afterwards.
 * @internal
 */
export function statusOf({ statuses = [], createdAt }: Deployment, now: number): PlannedStatus {
  const set = statuses.findLast(({ at }) => at <= now);
  if (set) return set;
  return now > createdAt ? { status: 'ready', at: createdAt + 1 } : { status: 'queued', at: createdAt };
}

/** Request with an idempotency key, and the deployment that it created. */
export interface KeyedRequest {
  /** Request in a canonical form, by which a repeated request is recognized. */
  readonly request: string;
  readonly id: string;
}

/** Deployments of one repository, in the order of creation. @internal */
export type Deployments = SortedRecords<number, Deployment>;

/** @internal */
export const NO_DEPLOYMENTS: Deployments = new SortedRecords(({ sequence }) => sequence);

/** First request with each idempotency key. @internal */
export type KeyedRequests = SortedMap<string, KeyedRequest>;

/**
 * Returns the deployments with a status added for one of them from `at` on. Earlier planned statuses stay. @internal
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
