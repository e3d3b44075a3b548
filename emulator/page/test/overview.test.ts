import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin } from './admin-request.js';
import { ask } from './api-request.js';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { type Clone, makeRepository } from './git.js';
import { CLOCK } from './stocked.js';
import { mint } from './token.js';

t.setTimeout(180_000);

const SCOPES = ['git:read', 'git:write', 'repo:write', 'deployment:read', 'deployment:write'];
const README = Array.from({ length: 300 }, (_, at) => `Line ${at + 1} of *the* <b>README</b>`).join('\n');

const at = (name: string) => `#/repository?${new URLSearchParams({ name }).toString()}`;
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Starts a receiver of webhooks. Its status is 500 until a test replaces `status`. */
async function startReceiver(t: Test) {
  const receiver = { status: 500, url: '', bodies: [] as string[] };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      receiver.bodies.push(body);
      response.writeHead(receiver.status).end();
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

async function attempts(emulator: Started): Promise<number> {
  const { items } = await admin(emulator, 'GET', 'webhooks/outbox');
  return items.length === 0 ? 0 : items[0].attempts.length;
}

/** Stores an LFS object and creates a lock, with the requests that `git lfs push` and `git lfs lock` send. */
async function useLfs(t: Test, { base_url }: Started, token: string): Promise<string> {
  const content = 'large '.repeat(200);
  const oid = createHash('sha256').update(content).digest('hex');
  const headers = { authorization: `Bearer ${token}` };
  const lfs = `${base_url}/team/app.git/info/lfs`;
  const stored = await fetch(`${lfs}/objects/${oid}`, { method: 'PUT', headers, body: content });
  t.equal(stored.status, 200);
  const locked = await fetch(`${lfs}/locks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/vnd.git-lfs+json', accept: 'application/vnd.git-lfs+json' },
    body: JSON.stringify({ path: 'art/cover.psd' }),
  });
  t.equal(locked.status, 201);
  return oid;
}

/** Commits a file and pushes it. */
async function push({ git, remote, folder }: Clone, file: string, content: string, message: string): Promise<void> {
  await writeFile(join(folder, file), content);
  await git(['add', '.']);
  await git(['commit', '--quiet', '-m', message]);
  await git(['push', '--quiet', remote(), 'main']);
}

/** Starts an emulator with a repository for which the overview has no empty part. */
async function startUsed(t: Test) {
  const receiver = await startReceiver(t);
  const emulator = await startEmulator(t, { clock: CLOCK });
  const clone = await makeRepository(t, emulator, 'team/app');
  const token = await mint(emulator, { repo: 'team/app', scopes: SCOPES, sub: 'ada' });
  await ask(emulator, token, 'POST', '/api/v1/webhooks', { url: receiver.url, events: ['push'] });
  await push(clone, 'README.md', README, 'Add a README');
  for (let n = 1; n <= 6; n++) await clone.git(['commit', '--quiet', '--allow-empty', '-m', `Change ${n}`]);
  await admin(emulator, 'POST', 'faults', { spec: 'ng*1;ref=refs%2Fheads%2Fbad', match: { op: 'gitReceivePack' } });
  await t.rejects(clone.git(['push', '--quiet', clone.remote(), 'main~6:refs/heads/bad']), 'a refused ref');
  const reader = await mint(emulator, { repo: 'team/app', scopes: ['git:read'] });
  const refused = clone.git(['push', '--quiet', `http://t:${reader}@${emulator.git_host}/team/app.git`, 'main']);
  await t.rejects(refused, 'a push without the scope git:write');
  const oid = await useLfs(t, emulator, token);
  await ask(emulator, token, 'PATCH', '/api/repos/team%2Fapp', { deployment: { framework: 'astro' } });
  await ask(emulator, token, 'POST', '/api/repos/team%2Fapp/deployments', { ref: 'main', target: 'production' });
  await eventuallyEquals(t, () => attempts(emulator), 1, 'the first attempt');
  await admin(emulator, 'PATCH', 'clock', { advance: 'PT1H' });
  await eventuallyEquals(t, () => attempts(emulator), 6, 'the last attempt');
  return { emulator, clone, receiver, oid, token };
}

t.test('the overview of a repository shows what happened to it', { skip }, async (t) => {
  const { emulator, clone, receiver, oid, token } = await startUsed(t);
  const head = await clone.git(['rev-parse', 'main~6']);

  await t.test('its README, commits, pushes, deployments, LFS objects and locks', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at('team/app') });
    const readme = part(page, 'README');
    await readme.getByText('Line 200 of *the* <b>README</b>').waitFor();
    await readme.getByText('At most 200 lines are shown').waitFor();
    t.notMatch(await readme.textContent(), 'Line 201');
    await part(page, 'Last commits').getByRole('link', { name: 'Add a README' }).waitFor();

    const pushes = part(page, 'Last pushes').getByRole('row');
    await eventuallyMatches(
      t,
      () => pushes.nth(1).textContent(),
      /^gitInfoRefs403 insufficient_scopegit\/2.*2026-01-01/,
    );
    t.match(await pushes.nth(2).textContent(), /^gitReceivePackbad ng .*200git\/2.*2026-01-01/);
    t.match(await pushes.nth(3).textContent(), /^gitReceivePackmain200git\/2.*2026-01-01/);
    t.equal(await pushes.count(), 4, 'reads and other writes are no pushes');

    const lfs = part(page, 'Git LFS');
    await lfs.getByText('1 object, 1.2 kB').waitFor();
    await lfs.getByText(oid.slice(0, 12)).waitFor();
    await eventuallyMatches(
      t,
      () => lfs.getByRole('row', { name: /cover/ }).textContent(),
      /^art\/cover\.psdada2026-01-01/,
    );
    const deployments = part(page, 'Deployments');
    await eventuallyMatches(t, () => deployments.textContent(), /astro/);
    await eventuallyMatches(
      t,
      () => deployments.getByRole('row').nth(1).textContent(),
      new RegExp(`^readyproductionmain${head.slice(0, 8)}`),
    );
    t.equal(await part(page, 'Upstream syncs').count(), 0, 'a repository without an upstream has no syncs');

    await readme.getByRole('link', { name: 'README.md' }).click();
    await page.getByRole('link', { name: 'Line 3', exact: true }).waitFor();
    await page.goBack();
    await part(page, 'Last commits').getByRole('link', { name: 'Add a README' }).click();
    await page.getByRole('region', { name: `Commit ${head.slice(0, 8)}` }).waitFor();
    await page.goBack();
    await part(page, 'Last pushes').getByRole('link', { name: 'gitReceivePack' }).first().click();
    await page.getByRole('region', { name: /^Request req-/ }).waitFor();
    t.match(page.url(), 'repository=team%2Fapp');
    t.same(complaints, []);
  });

  await t.test('it fits, in two columns or one, and axe finds nothing serious', async (t) => {
    for (const [width, colorScheme] of [
      [1440, 'light'],
      [1440, 'dark'],
      [390, 'light'],
      [390, 'dark'],
    ] as const) {
      const options = { colorScheme, viewport: { width, height: 900 }, bypassCSP: true };
      const { page } = await openPage(t, emulator, { at: at('team/app'), ...options });
      await part(page, 'README').getByText('Line 200').waitFor();
      await part(page, 'Deployments').waitFor();
      await part(page, 'Webhooks').locator('summary').first().click();
      await page.waitForFunction(() => document.querySelector('.loading') === null);
      const record = (await part(page, 'Details').boundingBox())!;
      const state = (await part(page, 'State').boundingBox())!;
      if (width === 1440) {
        t.ok(state.x >= record.x + record.width, 'two columns');
        t.equal(state.y, record.y, 'beside each other');
        t.ok(record.width + state.width > 1300, 'which use the width');
      } else {
        t.equal(state.x, record.x, 'one column');
        t.equal(state.width, record.width);
      }
      t.same(await accessibilityFaults(page), [], `${width} ${colorScheme}`);
      const widest = await page.evaluate(() => document.documentElement.scrollWidth);
      t.ok(widest <= width, `fits into ${width}: ${widest}`);
    }
  });

  await t.test('a failed delivery to a webhook is sent again, with the keyboard', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at('team/app') });
    const webhooks = part(page, 'Webhooks');
    const deliveries = webhooks.locator('details');
    await webhooks.getByRole('row', { name: new RegExp(`${receiver.url}.*push`) }).waitFor();
    await eventuallyMatches(t, () => deliveries.textContent(), /^failed push of demo to .*6 attempts, the last 500$/);
    receiver.status = 200;
    await deliveries.locator('summary').focus();
    await page.keyboard.press('Enter');
    await eventuallyEquals(t, () => deliveries.getByRole('listitem').count(), 6, 'each attempt');
    await deliveries.getByRole('button', { name: 'Resend' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await eventuallyMatches(t, () => deliveries.first().textContent(), /^delivered push .*resend, 1 attempt/);
    await eventuallyMatches(t, () => deliveries.nth(1).textContent(), /^failed push .*6 attempts/);
    t.equal(receiver.bodies.length, 7);
    t.equal(receiver.bodies[6], receiver.bodies[0], 'the same payload');

    // The section Control has the same button. The clock stands, so that the retry of the new delivery stays pending.
    receiver.status = 503;
    await page.goto(`${emulator.admin_url}/#/control?part=webhooks`);
    const failed = page.locator('details', { hasText: 'failed push' });
    await failed.locator('summary').click();
    await failed.getByRole('button', { name: 'Resend' }).click();
    const pending = page.locator('details', { hasText: 'pending push' });
    await eventuallyMatches(t, () => pending.textContent(), /resend, 1 attempt, the last 503, next at 2026-01-01/);
    await pending.locator('summary').click();
    await pending.getByText('which sends the event of').waitFor();
    t.equal(await pending.getByRole('button', { name: 'Resend' }).count(), 0, 'it is still being sent');
    await page.goto(`${emulator.admin_url}/${at('team/app')}`);
    await eventuallyMatches(t, () => deliveries.first().textContent(), /^pending push/);
    const { items } = await admin(emulator, 'GET', 'webhooks');
    await ask(emulator, token, 'DELETE', `/api/v1/webhooks/${items[0].id}`);
    await eventuallyMatches(t, () => deliveries.first().textContent(), /^canceled push/);
    await deliveries.first().locator('summary').click();
    await deliveries.first().getByRole('button', { name: 'Resend' }).click();
    await webhooks.getByRole('alert').getByText('was removed').waitFor();
    t.same(
      complaints.filter((complaint) => !complaint.includes('409 (Conflict)')),
      [],
    );
  });
});

t.test('an empty repository has short texts instead, and a failed sync shows its error', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  await admin(emulator, 'POST', 'repositories', { name: 'empty' });
  const token = await mint(emulator, { repo: 'mirror', scopes: SCOPES });
  const base_repo = { provider: 'gitea', owner: 'acme', name: 'app', upstream_host: '127.0.0.1:1' };
  t.equal((await ask(emulator, token, 'POST', '/api/repos', { base_repo })).status, 201);
  const { page, complaints } = await openPage(t, emulator, { at: at('empty') });
  for (const [name, text] of [
    ['README', 'The root folder has no README.'],
    ['Last commits', 'HEAD has no commit yet.'],
    ['Last pushes', 'The journal has no push'],
    ['Webhooks', 'The organization has no webhook.'],
    ['Git LFS', 'The repository has no LFS objects and no locks.'],
  ] as const)
    await part(page, name).getByText(text).waitFor();
  t.equal(await part(page, 'Deployments').count(), 0);
  await page.goto(`${emulator.admin_url}/${at('mirror')}`);
  const sync = part(page, 'Upstream syncs');
  await sync.getByText('cannot be reached (ECONNREFUSED)').waitFor();
  await eventuallyMatches(t, () => sync.textContent(), /gitea: acme\/app.*Last syncfailed.*Finished syncs1$/s);
  t.same(complaints, []);
});

const SCRIPT = '<script>alert(1)</script><img src=x onerror=alert(2)>';

t.test('a hostile README is shown as text, and does not hang the page', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const long = `${'y'.repeat(10_000_000)}\nend\n`;
  const readmes: Readonly<Record<string, readonly [name: string, content: string | Buffer]>> = {
    controls: ['README', `${SCRIPT}\u001b[31mred\u202egnp\u0007\ttab\r\n[x](javascript:alert(3))\n`],
    bytes: ['readme.TXT', Buffer.from([0x61, 0xff, 0xfe, 0x0a, 0x62])],
    binary: ['README.md', Buffer.from([0x61, 0x00, 0x62])],
    long: ['README.md', long],
    lines: ['README.md', 'z\n'.repeat(5_000_000)],
    nothing: ['README.md', ''],
  };
  for (const [name, [file, content]] of Object.entries(readmes)) {
    const clone = await makeRepository(t, emulator, name);
    await writeFile(join(clone.folder, file), content);
    await clone.git(['add', '.']);
    await clone.git(['commit', '--quiet', '-m', SCRIPT]);
    await clone.git(['push', '--quiet', clone.remote(), 'main']);
  }
  const { page, complaints } = await openPage(t, emulator, { at: at('controls') });
  const readme = part(page, 'README');
  const open = (name: string) => page.goto(`${emulator.admin_url}/${at(name)}`);
  await readme.getByRole('link', { name: 'README', exact: true }).waitFor();
  await eventuallyMatches(
    t,
    () => readme.textContent(),
    `${SCRIPT}␛[31mred⟦U+202E⟧gnp␇\ttab␍\n[x](javascript:alert(3))`,
  );
  await open('bytes');
  await readme.getByRole('link', { name: 'readme.TXT' }).waitFor();
  await eventuallyMatches(t, () => readme.textContent(), 'a\ufffd\ufffd\nb');
  await open('binary');
  await readme.getByText('Binary, 3 B: not shown.').waitFor();
  await open('nothing');
  await readme.getByText('The file is empty.').waitFor();
  await open('long');
  await readme.getByText('(10.0 MB)').waitFor();
  t.ok((await readme.textContent())!.length < 25_000, 'a long line is cut');
  await readme.getByRole('button', { name: /^Show 100,000 of/ }).click();
  await page.waitForFunction(() => document.querySelector('.readme')!.textContent!.length > 100_000);
  await open('lines');
  await readme.getByText('(10.0 MB)').waitFor();
  t.equal((await readme.locator('pre').textContent())!.split('\n').length, 200);
  t.equal(await page.evaluate(() => document.querySelectorAll('main script, main img, [onerror]').length), 0);
  t.same(complaints, []);
});
