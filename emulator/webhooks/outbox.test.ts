import t from 'tap';
import { Outbound } from '../http/outbound.js';
import { Ids } from '../ids/ids.js';
import type { LogLine } from '../log/log.js';
import { WorldClock } from '../time/clock.js';
import { Deliveries, signatureOf } from './delivery.js';
import type { Webhook } from './events.js';
import { Outbox } from './outbox.js';

t.test('the signature equals that of openssl', async (t) => {
  // This command computes the digest: echo -n '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
  const digest = '49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686';
  t.equal(signatureOf('secret', 1_700_000_000, Buffer.from('{"a":1}')), `t=1700000000,sha256=${digest}`);
});

t.test('an outbox has a maximum size, and lost deliveries are logged', async (t) => {
  const lines: LogLine[] = [];
  const outbound = new Outbound();
  const deliveries = new Deliveries();
  const outbox = new Outbox({
    deliveries,
    clock: new WorldClock(0),
    ids: new Ids('1'),
    log: { write: (line) => lines.push(line) },
    outbound,
    headerPrefix: 'X-Test',
  });
  const webhook: Webhook = {
    id: 'w',
    organization: 'o',
    url: 'http://127.0.0.1:1/',
    events: ['push'],
    secret: 's',
    createdAt: 0,
  };
  const event = { name: 'push', organization: 'o', repositoryId: 'r', payload: {} } as const;
  for (let count = 0; count < 10_001; count++) outbox.post(event, [webhook]);
  t.equal([...deliveries.all()].length, 10_000);
  t.match(lines, [{ event: 'webhook_lost', webhook: 'w' }]);
  outbox.cancel('w');
  outbox.post(event, [webhook]);
  const kept = [...deliveries.all()];
  t.equal(kept.length, 10_000, 'the oldest ended delivery was removed');
  t.equal(kept.at(-1)!.state, 'pending');
  t.ok(kept.slice(0, -1).every(({ state }) => state === 'canceled'));
  const again = outbox.resend(kept[0]!);
  t.match([...deliveries.all()], { length: 10_000, 9999: { id: again.id, resendOf: kept[0]!.id, state: 'pending' } });
  t.equal(deliveries.get(kept[0]!.id), undefined, 'the oldest ended delivery was removed to make space');
  outbox.close();
  outbox.post(event, [webhook]);
  t.equal([...deliveries.all()].at(-1), again, 'a closed outbox accepts nothing');
  await outbound.close();
});
