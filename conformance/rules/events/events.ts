import { NotHere } from '../../expect.js';
import { defineRules, type RuleRow } from '../../rule.js';
import type { Trial } from '../../trial.js';

/** Deliveries can be seen only where the suite may register an address and read what was sent. */
async function needsOutbox(t: Trial): Promise<void> {
  t.needsEmulator();
  throw new NotHere('the emulator shows no deliveries yet');
}

const delivery = (id: string, says: string, more: Partial<RuleRow> = {}): RuleRow => ({
  id,
  says,
  reach: 'emulator',
  writes: true,
  ...more,
  check: needsOutbox,
});

export const events = defineRules('Events', 'events', [
  delivery('event.sync-failed.sent', 'A sync run that fails sends repo.sync.failed.'),
  delivery('event.sync-failed.retries-exhausted', 'It is sent when the last retry has failed.'),
  delivery('event.sync-failed.infrastructure', 'It is sent when the infrastructure failed.'),
  delivery('event.sync-failed.not-on-cancel', 'It is not sent when the service cancelled the run itself.'),
  delivery('event.run_count', 'run_count counts the run that has just ended.'),
  delivery('event.no-others', 'No operation of the API sends any other event.'),
  delivery('event.delivery', 'Payload, headers, signature and retries of a delivery are left open.', {
    level: 'UNSPECIFIED',
  }),
]);
