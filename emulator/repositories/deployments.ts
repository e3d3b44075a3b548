import sortedBTree from 'sorted-btree';
import type { Oid } from '../git/object/object.js';

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

const BTree = sortedBTree.default;
type SortedMap<K, V> = sortedBTree.default<K, V>;

/** The deployments of one repository: an immutable value; adding makes a new one that shares the rest. @internal */
export class Deployments {
  static readonly none = new Deployments(new BTree(), new BTree(), new BTree());

  private constructor(
    private readonly bySequence: SortedMap<number, Deployment>,
    private readonly sequences: SortedMap<string, number>,
    private readonly keyed: SortedMap<string, KeyedRequest>,
  ) {}

  get size(): number {
    return this.bySequence.size;
  }

  get(id: string): Deployment | undefined {
    const sequence = this.sequences.get(id);
    return sequence === undefined ? undefined : this.bySequence.get(sequence);
  }

  /** The request that first used an idempotency key. */
  keyedRequest(key: string): KeyedRequest | undefined {
    return this.keyed.get(key);
  }

  /** All of them, by key. */
  keyedRequests(): IterableIterator<[string, KeyedRequest]> {
    return this.keyed.entries();
  }

  /** Newest first; `before` names the position to go on below. */
  *newest(before = Number.POSITIVE_INFINITY): IterableIterator<Deployment> {
    for (const [sequence, deployment] of this.bySequence.entriesReversed(before)) {
      if (sequence < before) yield deployment;
    }
  }

  /** In the order of creation. */
  oldest(): IterableIterator<Deployment> {
    return this.bySequence.values();
  }

  /** With a status from `at` on, behind those planned before it. */
  withStatus(id: string, status: DeploymentStatus, at: number, isPlanned: boolean): Deployments {
    const deployment = this.get(id)!;
    const planned = isPlanned ? (deployment.statuses ?? []).filter((earlier) => earlier.at <= at) : [];
    return this.with({ ...deployment, statuses: [...planned, { status, at }] });
  }

  with(deployment: Deployment, key?: { readonly key: string; readonly request: string }): Deployments {
    const { id, sequence } = deployment;
    return new Deployments(
      this.bySequence.with(sequence, deployment, true),
      this.sequences.with(id, sequence, true),
      key ? this.keyed.with(key.key, { request: key.request, id }, true) : this.keyed,
    );
  }
}
