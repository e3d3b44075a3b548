import { textOf } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { RepositoryRecord } from '../repositories/repository.js';
import { isoTime } from '../time/iso-8601.js';

/** Names of the events to which a webhook can subscribe. The specification defines only the first one. */
export const EVENT_NAMES = ['repo.sync.failed', 'repo.sync.started', 'repo.sync.succeeded', 'push'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

export const DEFAULT_EVENTS: readonly EventName[] = ['repo.sync.failed'];

/** Event in an organization, such as a push, that is sent to the webhooks that subscribe to it. */
export interface WebhookEvent {
  readonly name: EventName;
  readonly organization: string;
  /** Id of the repository in which the event happened. */
  readonly repositoryId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Report about the start or end of a sync (run that makes a repository equal to its upstream). Times are milliseconds
 * on the emulator's clock.
 */
export interface SyncReport {
  readonly outcome: 'started' | 'succeeded' | 'failed';
  readonly repository: RepositoryRecord;
  /** Number of syncs of the repository that have ended, including this one if it has ended. */
  readonly runCount: number;
  readonly isFirst: boolean;
  readonly startedAt: number;
  readonly completedAt?: number;
  /** Reason why the sync failed, in one sentence; absent if it did not fail. */
  readonly error?: string;
}

export function syncEvent(report: SyncReport): WebhookEvent {
  const { outcome, repository, runCount, isFirst, startedAt, completedAt, error } = report;
  const name = `repo.sync.${outcome}` as const;
  return {
    name,
    organization: repository.organization,
    repositoryId: repository.id,
    payload: {
      type: name,
      repository: showSource(repository),
      run_count: runCount,
      is_first_sync: isFirst,
      started_at: isoTime(startedAt),
      ...(completedAt === undefined ? {} : { completed_at: isoTime(completedAt) }),
      ...(error === undefined ? {} : { error }),
    },
  };
}

/**
 * Returns the event `push` for a ref update by a push or by another write. Returns undefined if the ref is neither a
 * branch nor a tag. `now`: time of the update, in milliseconds on the emulator's clock.
 */
export function pushEvent(repository: RepositoryRecord, change: RefChange, now: number): WebhookEvent | undefined {
  if (!change.name.startsWith('refs/heads/') && !change.name.startsWith('refs/tags/')) return undefined;
  return {
    name: 'push',
    organization: repository.organization,
    repositoryId: repository.id,
    payload: {
      repository: showSource(repository),
      ref: textOf(change.name),
      before: change.old,
      after: change.new,
      customer_id: repository.organization,
      pushed_at: isoTime(now),
    },
  };
}

function showSource({ id, name }: RepositoryRecord) {
  return { id, url: name };
}

/** Webhook that a client has registered: a URL, and the events that are sent to it. */
export interface Webhook {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly events: readonly EventName[];
  /**
   * Secret with which deliveries are signed. A secret that the emulator generated is shown only in the response to the
   * registration.
   */
  readonly secret: string;
  /** Time of the registration, in milliseconds on the emulator's clock. */
  readonly createdAt: number;
}
