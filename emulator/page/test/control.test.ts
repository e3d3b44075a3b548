import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { admin, isOwn } from './admin-request.js';
import { ask } from './api-request.js';
import { openPage, skip, startEmulator } from './browser.js';
import { confirm } from './confirm.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { mint } from './token.js';

t.setTimeout(180_000);

const REPO = { repo: 'team/app', scopes: ['repo:write', 'git:read', 'git:write'] };

t.test('the clock is frozen and moved, and tokens go by it', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=clock' });
  await page.getByRole('button', { name: 'Freeze' }).click();
  await page.getByText('The clock is frozen until').waitFor();
  const token = await mint(emulator, { ...REPO, ttl: 120 });
  t.equal((await ask(emulator, token, 'POST', '/api/repos')).status, 201);
  const short = await mint(emulator, { ...REPO, ttl: 1 });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  t.equal((await ask(emulator, short, 'GET', '/api/v1/repo')).status, 200, 'no time has passed for a token');
  await page.getByRole('button', { name: '+ 1 h' }).click();
  await page.waitForFunction(async () => {
    const { now } = await (await fetch('clock')).json();
    return document.querySelector('time')?.dateTime === now;
  });
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 403, 'the token has expired');
  await page.getByLabel(/^Time/).fill('2030-01-02T03:04:05Z');
  await page.getByRole('button', { name: 'Set the clock' }).click();
  await page.getByText('2030-01-02 03:04:05.000 UTC').waitFor();
  await page.getByLabel(/^Duration/).fill('soon');
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  await eventuallyMatches(t, () => page.getByRole('alert').textContent(), /ISO 8601 duration/);
  t.same(complaints.filter(isOwn), []);
});

t.test('a token is minted and good, and a removed key makes it bad', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  await ask(emulator, await mint(emulator, REPO), 'POST', '/api/repos');
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=token' });
  await page.getByLabel(/^Repository/).fill('team/app');
  await page.getByRole('checkbox', { name: 'repo:write' }).uncheck();
  await page.getByRole('button', { name: 'Create the token' }).click();
  await page.getByText('Claims').waitFor();
  await eventuallyMatches(t, () => page.locator('pre.given').textContent(), /"repo": "team\/app"/);
  const clone = (await page.getByText(/^git clone/).textContent()) ?? '';
  const [, token = ''] = /t:([\w.-]+)@/.exec(clone) ?? [];
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 200);
  t.equal((await ask(emulator, token, 'DELETE', '/api/v1/repos/delete')).status, 403, 'the scope was left out');
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Remove… es256' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 200, 'nothing is removed without an answer');
  await confirm(page, 'Remove… es256');
  await page.getByRole('button', { name: 'Remove… es256' }).waitFor({ state: 'detached' });
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 403, 'its key is gone');
  await page.getByLabel(/^Public key/).fill('no key');
  await page.getByRole('button', { name: 'Register' }).click();
  await eventuallyMatches(t, () => page.getByRole('alert').textContent(), /public_key/);
  t.same(complaints.filter(isOwn), []);
});

t.test(
  'a quota makes the next request 429, a variant changes an answer, an organization refuses',
  { skip },
  async (t) => {
    const emulator = await startEmulator(t);
    const token = await mint(emulator, REPO);
    await ask(emulator, token, 'POST', '/api/repos');
    const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=quotas' });
    await page.getByRole('button', { name: '1 per minute', exact: true }).click();
    await page.getByRole('button', { name: 'Set the quota' }).click();
    const remove = page.getByRole('button', { name: 'Remove… requests' });
    await remove.waitFor();
    t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 200);
    const refused = await ask(emulator, token, 'GET', '/api/v1/repo');
    t.equal(refused.status, 429);
    t.match(refused.headers.get('retry-after'), /^\d+$/);
    await confirm(page, 'Remove… requests');
    await remove.waitFor({ state: 'detached' });
    t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 200);

    await page.getByRole('link', { name: 'Variants' }).click();
    t.equal((await ask(emulator, token, 'POST', '/api/repos')).status, 409);
    await page.getByRole('searchbox').fill('secondDelete');
    await page.getByRole('combobox', { name: 'secondDelete' }).selectOption('404');
    await page.getByText('1 of').waitFor();
    await ask(emulator, token, 'DELETE', '/api/v1/repos/delete');
    t.equal((await ask(emulator, token, 'DELETE', '/api/v1/repos/delete')).status, 404);
    await page.getByRole('button', { name: 'Reset all to defaults' }).click();
    await page.getByText('0 of').waitFor();
    t.equal((await ask(emulator, token, 'DELETE', '/api/v1/repos/delete')).status, 409);

    await page.getByRole('link', { name: 'Organizations' }).click();
    await page.getByLabel(/^Authentication/).selectOption('unavailable');
    await page.waitForFunction(async () => {
      const { organizations } = await (await fetch('state')).json();
      return organizations.demo.authentication === 'unavailable';
    });
    t.match(await ask(emulator, token, 'GET', '/api/v1/repo'), { status: 403, text: /authentication_unavailable/ });
    t.same(complaints, []);
  },
);

t.test('deliveries of webhooks appear', { skip }, async (t) => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      received.push(request.url ?? '');
      response.end();
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => receiver.close());
  await new Promise((resolve) => receiver.once('listening', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const emulator = await startEmulator(t);
  const org = await mint(emulator, REPO);
  t.equal((await ask(emulator, org, 'POST', '/api/v1/webhooks', { url, events: ['push'] })).status, 201);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=webhooks' });
  await page.getByText('No deliveries yet').waitFor();
  const token = await mint(emulator, REPO);
  await ask(emulator, token, 'POST', '/api/repos');
  const lines = [
    {
      metadata: { target_branch: 'main', commit_message: 'm', author: { name: 'A', email: 'a@x.example' }, files: [] },
    },
  ];
  Object.assign(lines[0]!.metadata, { files: [{ path: 'a', content_id: '1' }] });
  const body = `${JSON.stringify(lines[0])}\n{"blob_chunk":{"content_id":"1","data":"YQ==","eof":true}}\n`;
  const response = await fetch(`${emulator.base_url}/api/v1/repos/commit-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
    body,
  });
  t.equal(response.status, 201);
  const delivery = page.locator('details', { hasText: 'delivered' });
  await delivery.locator('summary').click();
  await eventuallyMatches(t, () => delivery.textContent(), /push of demo to .*team\/app/s);
  t.same(received, ['/hook']);
  t.same(complaints, []);
});

t.test('a namespace has a page of its own, which sees its own requests only', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=namespaces' });
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const link = page.getByRole('link', { name: 'ns-1' });
  const address = (await link.getAttribute('href')) ?? '';
  await ask(emulator, await mint(emulator, REPO), 'POST', '/api/repos');
  const inside = { ...emulator, base_url: new URL(address).origin, admin_url: address.slice(0, -1) };
  await ask(inside, await mint(inside, { scopes: ['org:read'] }), 'GET', '/api/repos');
  t.same(complaints, []);
  await link.click();
  await page.waitForURL(`${address}**`);
  await page.getByText('/api/repos').first().waitFor();
  await eventuallyEquals(t, () => page.getByText('/api/repos').count(), 1, 'of its own requests');
  await page.goto(`${address}#/control?part=namespaces`);
  await page.getByText('page belongs to a namespace').waitFor();
  await eventuallyMatches(t, () => page.getByRole('banner').textContent(), new URL(address).host, 'the bar names it');
  const { port } = new URL(emulator.admin_url);
  await page.goto(`http://ns-1.ns.localhost:${port}/_emulator/`);
  await page.getByRole('banner').getByText('ns-1').waitFor();
  await page.getByRole('link', { name: 'Main page', exact: true }).click();
  await page.waitForURL(`${emulator.admin_url}/**`);
  await page.getByRole('banner').getByLabel('Namespace').waitFor();
  await page.goto(`${emulator.admin_url}/#/control?part=namespaces`);
  await confirm(page, 'Remove… ns-1');
  await page.getByText('No namespaces yet').waitFor();
  await page.getByRole('banner').getByLabel('Namespace').waitFor({ state: 'detached' });
  await t.rejects(fetch(`${inside.admin_url}/health`), 'its port is closed');
});

t.test('a snapshot is taken and restored, and everything is reset', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const token = await mint(emulator, REPO);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=snapshots' });
  await page.getByRole('button', { name: 'Take a snapshot' }).click();
  await page.getByRole('status').filter({ hasText: 'Taken.' }).waitFor();
  t.equal((await ask(emulator, token, 'POST', '/api/repos')).status, 201);
  await page.getByRole('button', { name: 'Restore… snapshot-1' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 200, 'nothing is restored without an answer');
  await confirm(page, 'Restore… snapshot-1');
  await page.getByRole('status').filter({ hasText: 'Restored' }).waitFor();
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 404);
  t.equal((await ask(emulator, token, 'POST', '/api/repos')).status, 201);
  await confirm(page, 'Reset the emulator…');
  await page.getByText('reset to its state before the first request').waitFor();
  t.equal((await ask(emulator, token, 'GET', '/api/v1/repo')).status, 404);
  await page.getByRole('button', { name: 'Remove… snapshot-1' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.equal((await admin(emulator, 'GET', 'snapshots')).items.length, 1, 'nothing is removed without an answer');
  await confirm(page, 'Remove… snapshot-1');
  await page.getByText('No snapshots yet').waitFor();
  t.same(complaints, []);
});
