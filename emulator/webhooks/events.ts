import { textOf } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { RepositoryRecord } from '../repositories/repository.js';

/** Events that webhooks can subscribe to. The specification defines only the first one. */
export const EVENT_NAMES = ['repo.sync.failed', 'repo.sync.started', 'repo.sync.succeeded', 'push'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

export const DEFAULT_EVENTS: readonly EventName[] = ['repo.sync.failed'];

/** Event in an organization, as sent to webhooks. */
export interface WebhookEvent {
  readonly name: EventName;
  readonly organization: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Start or end of a sync run. Times are milliseconds on the world's clock. */
export interface SyncReport {
  readonly outcome: 'started' | 'succeeded' | 'failed';
  readonly repository: RepositoryRecord;
  /** Number of ended runs, including this one if it has ended. */
  readonly runCount: number;
  readonly isFirst: boolean;
  readonly startedAt: number;
  readonly completedAt?: number;
  /** Reason of the failure, in one sentence. */
  readonly error?: string;
}

export function syncEvent(report: SyncReport): WebhookEvent {
  const { outcome, repository, runCount, isFirst, startedAt, completedAt, error } = report;
  const name = `repo.sync.${outcome}` as const;
  return {
    name,
    organization: repository.organization,
    payload: {
      type: name,
      repository: showSource(repository),
      run_count: runCount,
      is_first_sync: isFirst,
      started_at: new Date(startedAt).toISOString(),
      ...(completedAt === undefined ? {} : { completed_at: new Date(completedAt).toISOString() }),
      ...(error === undefined ? {} : { error }),
    },
  };
}

/** Returns the event for a ref update by a push or by another write; undefined if the ref is not a branch or tag. */
export function pushEvent(repository: RepositoryRecord, change: RefChange, now: number): WebhookEvent | undefined {
  if (!change.name.startsWith('refs/heads/') && !change.name.startsWith('refs/tags/')) return undefined;
  return {
    name: 'push',
    organization: repository.organization,
    payload: {
      repository: showSource(repository),
      ref: textOf(change.name),
      before: change.old,
      after: change.new,
      customer_id: repository.organization,
      pushed_at: new Date(now).toISOString(),
    },
  };
}

function showSource({ id, name }: RepositoryRecord) {
  return { id, url: name };
}

/** Registered webhook: URL and subscribed events. */
export interface Webhook {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly events: readonly EventName[];
  /** Secret that signs the deliveries. A generated secret is shown only in the response to the registration. */
  readonly secret: string;
  /** Time of the registration, in milliseconds on the world's clock. */
  readonly createdAt: number;
}
