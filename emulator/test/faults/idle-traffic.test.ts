import t from 'tap';
import type { Fault } from '../../faults/fault.js';
import { WebhookReceiver } from '../operations/webhook-receiver.js';
import { startService } from '../service.js';
import { readAll, touchEverything } from '../world/world-story.js';

/** Faults (injected failures) that match no request of this test. Each has a different reason. */
const NEVER: readonly Fault[] = [
  { match: { org: 'other' }, do: { error: { code: 'internal_error' } } },
  { match: { repo: 'other/*' }, at: 'after', do: { lost: 'rst' } },
  { match: { token: { sub: 'other' } }, do: { raw: { status: 200 } } },
  { match: { http: { header: { 'x-none': { present: true } } } }, do: { latency: { ms: 60_000 } } },
  { match: { http: { body: { '/none': '*' } } }, do: { error: { code: 'conflict' } } },
  { match: { scenario: 'none' }, at: 'response.body', do: { cut: {} } },
  { match: { git: { protocol: 1 } }, do: { corrupt: { flip: 0 } } },
  { match: { git: { ref: 'refs/heads/none' } }, at: 'git.report', do: { ng: { unpack: 'no' } } },
  { when: { skip: 1_000_000 }, at: 'response.head', do: { error: { code: 'internal_error' } } },
  { when: { skip: 1_000_000 }, at: 'response.body', do: { throttle: { bps: 1 } } },
  { when: { from: 'P1000W' }, do: { throttle: { bps: 1 } } },
  { when: { until: 'PT0.001S' }, do: { hold: 'forever' } },
  { sequence: ['pass', { latency: { ms: 60_000 } }], when: { skip: 1_000_000 } },
  { at: 'accept', when: { skip: 1_000_000 }, do: { cut: {} } },
];

t.test('faults that do not match change no byte of the responses', async (t) => {
  const receiver = await WebhookReceiver.start();
  t.teardown(() => receiver[Symbol.asyncDispose]());
  const run = async (faults: readonly Fault[]) => {
    const service = await startService({ clock: Date.parse('2026-01-01T00:00:00Z') });
    try {
      for (const fault of faults) service.emulator.fault(fault);
      const responses = [...(await touchEverything(service, receiver, 'one')), ...(await readAll(service))];
      // Replace the origin, because the two compared runs use different ports.
      const sent = responses.map((response) => response.replaceAll(service.url, 'ORIGIN'));
      return { sent, faults: service.world.state.faults.list() };
    } finally {
      await service.emulator.close({ graceMs: 0 });
    }
  };
  const plain = await run([]);
  const armed = await run(NEVER);
  t.ok(plain.sent.length > 40, 'there is something to compare');
  t.strictSame(armed.sent, plain.sent);
  const registered = armed.faults.filter(({ source }) => source === 'registered');
  t.equal(registered.length, NEVER.length);
  t.strictSame(
    registered.map(({ fired }) => fired),
    NEVER.map(() => 0),
  );
  t.ok(
    registered.some(({ matched }) => matched > 0),
    'some of them were matched',
  );
});
