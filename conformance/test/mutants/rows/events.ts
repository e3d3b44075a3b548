import { type Mutant, patched } from '../mutant.js';

const SYNCS = 'upstream/syncs.js';
const EVENTS = 'webhooks/events.js';

export const rows: readonly Mutant[] = [
  patched('event-has-another-name', 'event.sync-failed.sent', 'calls the event of a failed sync otherwise', {
    file: EVENTS,
    find: 'type: name,',
    replace: "type: 'repo.sync_failed',",
  }),
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
  patched('event-counts-runs-from-zero', 'event.run_count', 'counts the runs before the one that has ended', {
    file: EVENTS,
    find: 'run_count: runCount,',
    replace: 'run_count: runCount - 1,',
  }),
  patched('event-tells-of-pushes', 'event.no-others', 'sends an event for every ref that moves', {
    file: 'api/operations/webhooks.js',
    find: 'body.events ?? DEFAULT_EVENTS',
    replace: "body.events ?? ['push', ...DEFAULT_EVENTS]",
  }),
];
