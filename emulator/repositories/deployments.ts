import type { Oid } from '../git/object/object.js';
import { type SortedMap, SortedRecords } from './sorted-records.js';

export const DEPLOYMENT_STATUSES = ['queued', 'building', 'ready', 'error', 'canceled'] as const;
export type DeploymentStatus = (typeof DEPLOYMENT_STATUSES)[number];

/** A status, and when it begins: milliseconds on the world's clock. */
interface PlannedStatus {
  readonly status: DeploymentStatus;
  readonly at: number;
}

export type DeploymentTarget = 'preview' | 'production';

/** @internal */
export interface Deployment {
  readonly id: string;
  /** Position in the order of creation, from 1. */
  readonly sequence: number;
  readonly target: DeploymentTarget;
  /** The branch, tag or commit that was asked for. */
  readonly ref: string;
  readonly commit: Oid;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
  /** Statuses that were set, in order of time; without any it goes its own way. */
  readonly statuses?: readonly PlannedStatus[] | undefined;
}

/**
 * The status of a deployment, and since when it has it. Nothing is built here: where none was set, a deployment is queued
 * at the instant it is made, and ready as soon as time has passed.
 * @internal
 */
export function statusOf({ statuses = [], createdAt }: Deployment, now: number): PlannedStatus {
  const set = statuses.findLast(({ at }) => at <= now);
  if (set) return set;
  return now > createdAt ? { status: 'ready', at: createdAt + 1 } : { status: 'queued', at: createdAt };
}

/** A request that carried an idempotency key, and what came of it. */
export interface KeyedRequest {
  /** What was asked for, in one canonical form. */
  readonly request: string;
  readonly id: string;
}

/** The deployments of one repository, in the order of creation. @internal */
export type Deployments = SortedRecords<number, Deployment>;

/** @internal */
export const NO_DEPLOYMENTS: Deployments = new SortedRecords(({ sequence }) => sequence);

/** By the idempotency key, the request that first used it. @internal */
export type KeyedRequests = SortedMap<string, KeyedRequest>;

/** The deployments with a status of one of them from `at` on, behind those planned before it. @internal */
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
