import { textOf } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { RepositoryRecord } from '../repositories/repository.js';

/** The specification knows the first one only; the others are sent to webhooks that are registered for them. */
export const EVENT_NAMES = ['repo.sync.failed', 'repo.sync.started', 'repo.sync.succeeded', 'push'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

export const DEFAULT_EVENTS: readonly EventName[] = ['repo.sync.failed'];

/** One thing that happened in an organization, as it goes out. */
export interface WebhookEvent {
  readonly name: EventName;
  readonly organization: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A sync run, at its start or after its end. Times are milliseconds on the world's clock. */
export interface SyncReport {
  readonly outcome: 'started' | 'succeeded' | 'failed';
  readonly repository: RepositoryRecord;
  /** Runs that have ended; after the end of this one, including it. */
  readonly runCount: number;
  readonly isFirst: boolean;
  readonly startedAt: number;
  readonly completedAt?: number;
  /** Why it failed, in a sentence. */
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

/** A branch or tag that moved, by a push or any other write; moves of other refs are no events. */
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

/** A registration: where events of which kinds are sent. */
export interface Webhook {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly events: readonly EventName[];
  /** Signs what is sent. Shown once, in the answer to a registration that gave none. */
  readonly secret: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}
