import { type Mutant, patched } from '../mutant.js';

const SYNCS = 'upstream/syncs.js';
const EVENTS = 'webhooks/events.js';

/**
 * Defines a wrong server that sends an event after each request of the operations `ids`. The specification has no such
 * event. Webhooks for the default events receive it.
 */
function eventAfter(name: string, clause: string, does: string, ids: readonly string[]): Mutant {
  return patched(name, `event.no-others#${clause}`, does, {
    file: 'pipeline/handle.js',
    find: 'context.reply = reply;',
    replace: `context.reply = reply;
      if (${JSON.stringify(ids)}.includes(context.operation.id)) {
        const organization = context.organizationName;
        const payload = { type: 'repo.used', repository: { url: context.repositoryName } };
        context.world.background.announce({ name: 'repo.sync.failed', organization, payload });
      }`,
  });
}

export const rows: readonly Mutant[] = [
  patched('event-has-another-name', 'event.sync-failed.sent', 'calls the event of a failed sync otherwise', {
    file: EVENTS,
    find: 'type: name,',
    replace: "type: 'repo.sync_failed',",
  }),
  patched('event-tells-of-good-runs', 'event.sync-failed.sent#success', 'sends the event for a sync that succeeds', {
    file: SYNCS,
    find: "error === undefined ? 'succeeded' : 'failed'",
    replace: "'failed'",
  }),
  patched(
    'event-sends-the-end-of-a-sync-by-default',
    'event.sync-failed.sent#success',
    'sends an event repo.sync.succeeded that nobody asked for',
    {
      file: 'api/operations/webhooks.js',
      find: 'body.events ?? DEFAULT_EVENTS',
      replace: "body.events ?? ['repo.sync.succeeded', ...DEFAULT_EVENTS]",
    },
  ),
  patched(
    'event-is-sent-at-every-attempt',
    'event.sync-failed.retries-exhausted',
    'sends the event at every attempt of a sync',
    {
      file: SYNCS,
      find: 'controller.signal.throwIfAborted();',
      replace: "this.#report(run, 'failed', base.runs + 1, 'Once more.'); controller.signal.throwIfAborted();",
    },
  ),
  patched(
    'event-has-another-name-where-nothing-answers',
    'event.sync-failed.infrastructure',
    'calls it another event where the upstream cannot be reached',
    {
      file: EVENTS,
      find: 'type: name,',
      replace: "type: error?.includes('cannot be reached') ? 'repo.sync.unreachable' : name,",
    },
  ),
  patched(
    'event-tells-of-canceled-runs',
    'event.sync-failed.not-on-cancel',
    'sends the event for a run that it canceled',
    {
      file: SYNCS,
      find: 'run.controller.signal.aborted || reason instanceof Canceled',
      replace: 'false',
    },
  ),
  patched('event-counts-runs-of-all', 'event.run_count#repository', 'counts the runs of all repositories together', {
    file: EVENTS,
    find: 'run_count: runCount,',
    replace: "run_count: outcome === 'failed' ? (globalThis.runs = (globalThis.runs ?? 0) + 1) : runCount,",
  }),
  patched('event-counts-runs-from-zero', 'event.run_count#includes', 'counts the runs before the one that has ended', {
    file: EVENTS,
    find: 'run_count: runCount,',
    replace: 'run_count: runCount - 1,',
  }),
  eventAfter('event-after-restore', 'writes', 'sends an event after a restore', ['restoreCommit']),
  eventAfter('event-after-note', 'writes', 'sends an event after a note is written', ['writeNote']),
  eventAfter('event-after-search', 'reads', 'sends an event after a search', ['grep']),
  eventAfter('event-after-archive', 'reads', 'sends an event after an archive', ['archive']),
  eventAfter('event-after-deletion', 'repositories', 'sends an event after a repository is deleted', [
    'deleteRepository',
  ]),
  eventAfter('event-after-creation', 'repositories', 'sends an event after a repository is created', [
    'createRepository',
  ]),
  eventAfter('event-after-fetch', 'git', 'sends an event after a fetch', ['gitUploadPack']),
  patched(
    'event-tells-of-pushes',
    ['event.no-others#git', 'event.no-others#writes'],
    'sends an event for every ref that moves',
    {
      file: 'api/operations/webhooks.js',
      find: 'body.events ?? DEFAULT_EVENTS',
      replace: "body.events ?? ['push', ...DEFAULT_EVENTS]",
    },
  ),
];
