import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import type { GivenOptions } from '../../config/options.js';
import { BACK_OFF } from '../../webhooks/outbox.js';
import { type Service, startService } from '../service.js';
import { WebhookReceiver } from './webhook-receiver.js';

const START = Date.parse('2026-01-01T00:00:00Z');

async function stage(t: Test, options: GivenOptions = {}) {
  const receiver = await WebhookReceiver.start();
  const service = await startService({ clock: START, ...options });
  t.teardown(async () => {
    await service.emulator.close();
    await receiver[Symbol.asyncDispose]();
  });
  return { receiver, service, clock: service.emulator.clock };
}

function register(service: Service, json: object) {
  return service.call('POST', '/api/v1/webhooks', { json });
}

async function outbox(service: Service) {
  return (await service.call('GET', '/_emulator/webhooks/outbox', { token: null })).json.items;
}

/**
 * Reads the emulator's outbox until `isThere` returns true for the webhook deliveries in it. Returns these deliveries.
 */
async function untilOutbox(
  service: Service,
  isThere: (deliveries: { state: string; attempts: unknown[] }[]) => boolean,
) {
  for (;;) {
    const deliveries = await outbox(service);
    if (isThere(deliveries)) return deliveries;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

t.test('webhooks belong to an organization, and only their creation returns the secret', async (t) => {
  const { receiver, service } = await stage(t);
  const created = await register(service, { url: receiver.url });
  t.match(created, { status: 201, json: { id: /^whk_/, url: receiver.url, secret: /^whsec_/ } });
  t.same(created.json.events, ['repo.sync.failed'], 'the only event the specification knows');
  const own = await register(service, { url: receiver.url, events: ['push', 'push'], secret: 'mine' });
  t.same(own.json.events, ['push']);
  t.notOk('secret' in own.json, 'who gave a secret knows it');
  const listed = await service.call('GET', '/api/v1/webhooks');
  t.same(
    listed.json.webhooks.map(({ id }: { id: string }) => id),
    [created.json.id, own.json.id],
  );
  t.notMatch(listed.text, /secret/);
  t.equal((await service.call('DELETE', `/api/v1/webhooks/${created.json.id}`)).status, 204);
  t.match(await service.call('DELETE', `/api/v1/webhooks/${created.json.id}`), { status: 404 });
  t.equal((await service.call('GET', '/api/v1/webhooks')).json.webhooks.length, 1);
});

t.test('a URL to which webhooks cannot be delivered is refused with 400', async (t) => {
  const { receiver, service } = await stage(t, { allowWebhook: ['hooks.example'] });
  const bad: object[] = [
    { url: 'ftp://127.0.0.1/x' },
    { url: 'nowhere' },
    { url: 'http://user:password@127.0.0.1/x' },
    { url: 'http://192.0.2.1/x' },
    { url: 'http://localhost.example/x' },
    { url: 'http://127.0.0.1.example/x' },
    { url: 'https://other.example/' },
    { url: receiver.url, events: [] },
    { url: receiver.url, events: ['repo.deleted'] },
    { url: receiver.url, secret: '' },
    {},
  ];
  for (const json of bad) {
    t.match(await register(service, json), { status: 400, json: { code: 'bad_request' } }, JSON.stringify(json));
  }
  t.equal((await register(service, { url: 'https://hooks.example/x' })).status, 201, 'allowed by name');
  for (const url of ['http://[::1]:1/', 'http://localhost:1/', 'http://0x7f.1/']) {
    t.equal((await register(service, { url })).status, 201, url);
  }
});

t.test('a push is delivered to the webhooks that subscribe to it, with a signature over the exact body', async (t) => {
  const { receiver, service } = await stage(t);
  await register(service, { url: receiver.url, events: ['push'], secret: 'geheim \u00e4' });
  await register(service, { url: receiver.url });
  const first = await service.seed('team/app');
  const second = (await service.commit('team/app', { 'b.txt': 'b' })).json.commit.commit_sha;
  await service.commit('team/app', { 'c.txt': 'c' }, { target_branch: 'e', base_branch: 'main', ephemeral: true });
  await service.call('POST', '/api/v1/repos/tags', { json: { name: 'v1', target: second } });
  await service.call('DELETE', '/api/v1/repos/tags', { json: { name: 'v1' } });
  const received = await receiver.until(4);
  const zero = '0'.repeat(40);
  const { repo_id } = (await service.call('GET', '/api/v1/repo')).json;
  t.same(
    received.map(({ json }) => [json.ref, json.before, json.after]),
    [
      ['refs/heads/main', zero, first],
      ['refs/heads/main', first, second],
      ['refs/tags/v1', zero, second],
      ['refs/tags/v1', second, zero],
    ],
    'in order, and ephemeral branches stay private',
  );
  for (const { headers, body, json } of received) {
    t.same(Object.keys(json), ['repository', 'ref', 'before', 'after', 'customer_id', 'pushed_at']);
    t.match(json, { repository: { id: repo_id, url: 'team/app' }, customer_id: 'demo', pushed_at: /^2026-01-01T/ });
    const [, seconds, digest] = /^t=(\d+),sha256=([0-9a-f]{64})$/.exec(String(headers['x-pierre-signature']))!;
    t.equal(Number(seconds), START / 1000, "on the world's clock");
    t.equal(digest, createHmac('sha256', 'geheim \u00e4').update(`${seconds}.${body}`).digest('hex'));
    t.match(headers, {
      'x-pierre-event': 'push',
      'user-agent': 'Pierre-Webhook/1.0',
      'content-type': 'application/json',
    });
  }
  t.notMatch(JSON.stringify(await outbox(service)), /geheim/);
});

t.test('the prefix of the headers can be chosen', async (t) => {
  const { receiver, service } = await stage(t, { webhookPrefix: 'X-Acme' });
  await register(service, { url: receiver.url, events: ['push'] });
  await service.seed('team/app');
  t.match(await receiver.until(1), [
    { headers: { 'x-acme-event': 'push', 'x-acme-signature': /^t=/, 'user-agent': 'Acme-Webhook/1.0' } },
  ]);
});

t.test("a delivery that is not accepted is retried with increasing delays on the world's clock", async (t) => {
  const { receiver, service, clock } = await stage(t);
  receiver.status = (before) => (before < 2 ? [500, 302][before]! : 200);
  await register(service, { url: receiver.url, events: ['push'] });
  await service.seed('team/app');
  const [waiting] = await untilOutbox(service, ([delivery]) => delivery?.attempts.length === 1);
  t.match(waiting, { state: 'pending', event: 'push', url: receiver.url, organization: 'demo' });
  t.equal(receiver.received.length, 1, 'no retry while the clock stands');
  await clock.advance(BACK_OFF[0]!);
  await receiver.until(2);
  await untilOutbox(service, ([delivery]) => delivery!.attempts.length === 2);
  await clock.advance(BACK_OFF[1]!);
  await receiver.until(3);
  const [done] = await untilOutbox(service, ([delivery]) => delivery!.state !== 'pending');
  t.match(done, {
    state: 'delivered',
    next_attempt_at: null,
    attempts: [{ status: 500 }, { status: 302 }, { status: 200 }],
  });
  const [at, next] = done.attempts.map((attempt: { at: string }) => Date.parse(attempt.at));
  t.ok(next - at >= BACK_OFF[0]!);
  t.same(receiver.received[0]!.body, receiver.received[2]!.body);
});

t.test('a delivery fails after its last retry, and removing the webhook cancels its deliveries', async (t) => {
  const { receiver, service, clock } = await stage(t);
  const dead = await register(service, { url: 'http://127.0.0.1:1/', events: ['push'] });
  receiver.status = () => 500;
  const gone = await register(service, { url: receiver.url, events: ['push'] });
  const started = clock.now();
  await service.seed('team/app');
  t.ok(clock.now() - started < 10, 'no request waits for a delivery');
  await untilOutbox(service, (all) => all.every(({ attempts }) => attempts.length === 1));
  t.equal((await service.call('DELETE', `/api/v1/webhooks/${gone.json.id}`)).status, 204);
  for (const [index, pause] of BACK_OFF.entries()) {
    await clock.advance(pause);
    await untilOutbox(service, ([delivery]) => delivery!.attempts.length === index + 2);
  }
  const [failed, canceled] = await outbox(service);
  t.match(failed, { state: 'failed', webhook_id: dead.json.id, attempts: [{ error: 'ECONNREFUSED' }] });
  t.match(canceled, { state: 'canceled', webhook_id: gone.json.id });
  t.equal(receiver.received.length, 1);
});

t.test('a delivery that has ended is sent again as a new delivery with the same payload', async (t) => {
  const { receiver, service, clock } = await stage(t);
  const resend = (id: string) => service.call('POST', `/_emulator/webhooks/outbox/${id}/resend`, { token: null });
  receiver.status = () => 500;
  const hook = await register(service, { url: receiver.url, events: ['push'], secret: 'geheim' });
  await service.seed('team/app');
  const [{ id }] = await untilOutbox(service, ([delivery]) => delivery?.attempts.length === 1);
  t.match(await resend(id), { status: 409, json: { code: 'conflict', detail: /^The delivery whd_\w+ is pending/ } });
  for (const [index, pause] of BACK_OFF.entries()) {
    await clock.advance(pause);
    await untilOutbox(service, ([delivery]) => delivery!.attempts.length === index + 2);
  }
  const [failed] = await outbox(service);
  t.match(failed, { id, state: 'failed', attempts: { length: 6 } });

  receiver.status = (before) => (before === 6 ? 503 : 200);
  const created = await resend(id);
  t.match(created, { status: 201, json: { state: 'pending', attempts: [], resend_of: id, webhook_id: hook.json.id } });
  t.same(created.json.payload, failed.payload);
  t.not(created.json.id, id);
  await untilOutbox(service, ([, again]) => again?.attempts.length === 1);
  await clock.advance(BACK_OFF[0]!);
  const deliveries = await untilOutbox(service, ([, again]) => again?.state !== 'pending');
  t.same(deliveries[0], failed, 'the delivery that had failed is unchanged');
  t.match(deliveries[1], { state: 'delivered', attempts: [{ status: 503 }, { status: 200 }] }, 'with its own retries');
  const [first, last] = [receiver.received[0]!, receiver.received.at(-1)!];
  t.same(last.body, first.body);
  const [, seconds, digest] = /^t=(\d+),sha256=([0-9a-f]{64})$/.exec(String(last.headers['x-pierre-signature']))!;
  t.equal(digest, createHmac('sha256', 'geheim').update(`${seconds}.${last.body}`).digest('hex'), 'signed again');
  t.not(last.headers['x-pierre-signature'], first.headers['x-pierre-signature'], 'at the new time');

  t.match(await resend(created.json.id), { status: 201, json: { resend_of: created.json.id } }, 'also a delivered one');
  t.match(await resend('whd_none'), { status: 404, json: { code: 'not_found', detail: /"whd_none"/ } });
  await receiver.until(9);
  await untilOutbox(service, (all) => all.every(({ state }) => state !== 'pending'));
  t.equal((await service.call('DELETE', `/api/v1/webhooks/${hook.json.id}`)).status, 204);
  t.match(await resend(id), { status: 409, json: { code: 'conflict', detail: /webhook whk_\w+ .*was removed/ } });
  t.equal((await outbox(service)).length, 3);
});

t.test('the outbox is filtered by repository, and listed from either end', async (t) => {
  const { receiver, service } = await stage(t, { org: ['demo', 'other'] });
  await register(service, { url: receiver.url, events: ['push'] });
  for (const name of ['one', 'two']) await service.seed(name);
  await service.commit('one', { 'b.txt': 'b' });
  await untilOutbox(service, (all) => all.length === 3 && all.every(({ state }) => state === 'delivered'));
  const list = async (query: string) => {
    const { json } = await service.call('GET', `/_emulator/webhooks/outbox?${query}`, { token: null });
    return json.items.map(({ payload }: { payload: { repository: { url: string } } }) => payload.repository.url);
  };
  t.same(await list('repository=two'), ['two']);
  t.same(await list('repository=one&organization=demo&order=newest'), ['one', 'one']);
  t.same(await list('organization=demo'), ['one', 'two', 'one']);
  t.same(await list('organization=other'), []);
  const newest = await service.call('GET', '/_emulator/webhooks/outbox?order=newest&limit=2', { token: null });
  const oldest = (await outbox(service)).map(({ id }: { id: string }) => id);
  t.same(
    newest.json.items.map(({ id }: { id: string }) => id),
    [oldest[2], oldest[1]],
  );
  const cursor = newest.json.next_cursor;
  const rest = await service.call('GET', `/_emulator/webhooks/outbox?order=newest&cursor=${cursor}`, { token: null });
  t.match(rest.json, { items: [{ id: oldest[0] }], has_more: false });
  for (const [query, status, detail] of [
    ['repository=none', 404, /"none"/],
    ['repository=one&organization=other', 404, /"one"/],
    ['order=up', 400, /^order: must be oldest or newest/],
    [`cursor=${cursor}`, 400, /cursor/],
  ] as const) {
    const response = await service.call('GET', `/_emulator/webhooks/outbox?${query}`, { token: null });
    t.match(response, { status, json: { detail } }, query);
  }
});
