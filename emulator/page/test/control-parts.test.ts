import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { ask } from './api-request.js';
import { openPage, skip, startEmulator } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { sample } from './sample.js';
import { mint } from './token.js';

t.setTimeout(180_000);

const BIN = fileURLToPath(new URL('../../../../bin/emulator.js', import.meta.url));

const REPO = { repo: 'team/app', scopes: ['repo:write', 'git:read', 'git:write'] };

t.test('names with markup and marks of direction are text', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const send = (method: string, path: string, body: object) =>
    fetch(`${emulator.admin_url}/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const markup = '<svg/onload=alert(1)>';
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  t.equal((await send('POST', 'keys', { public_key: pem, id: markup })).status, 201);
  t.equal((await send('PATCH', 'quotas', { quotas: { [markup]: { capacity: 9999, refill: '10/s' } } })).status, 200);
  const upstream = { error: `${markup}\u202e\u001b[2J` };
  t.equal((await send('PATCH', 'state', { organizations: { demo: { upstream } } })).status, 200);
  const url = `http://127.0.0.1:1/${encodeURIComponent(markup)}?${markup}`;
  const token = await mint(emulator, REPO);
  t.equal((await ask(emulator, token, 'POST', '/api/v1/webhooks', { url, events: ['push'] })).status, 201);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=keys' });
  const main = page.getByRole('main');
  await main.getByText(markup).first().waitFor();
  await page.getByRole('link', { name: 'Quotas' }).click();
  await main.getByText(markup).first().waitFor();
  await page.getByRole('link', { name: 'Organizations' }).click();
  await eventuallyEquals(t, () => page.getByLabel('Error message of syncs').inputValue(), upstream.error);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await main.getByText('onload=alert(1)').first().waitFor();
  await eventuallyEquals(t, () => page.locator('svg').count(), 0);
  t.same(complaints, []);
});

t.test('the keyboard reaches and works the parts', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control?part=clock' });
  const press = async (name: string) => {
    for (let times = 0; times < 60; times++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate(() => document.activeElement?.textContent)) === name) {
        return page.keyboard.press('Enter');
      }
    }
    throw new Error(`Tab does not reach ${name}`);
  };
  await page.getByRole('button', { name: 'Freeze' }).waitFor();
  await press('Freeze');
  await page.getByText('The clock is frozen until').waitFor();
  await page.reload();
  await page.getByText('The clock is frozen until').waitFor();
  await press('Snapshots and reset');
  await page.getByRole('heading', { level: 1, name: 'Snapshots and reset' }).waitFor();
  await press('Reset the emulator…');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await eventuallyEquals(
    t,
    () => page.evaluate(() => document.activeElement?.textContent),
    'Reset the emulator…',
    'the focus is given back',
  );
  t.same(complaints, []);
});

t.test('lines for a shell are those that the command takes', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/control' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  const parts = await page
    .locator('.parts-select option')
    .evaluateAll((options) => options.map((one) => (one as HTMLOptionElement).value));
  const lines: string[] = [];
  for (const part of parts) {
    await page.goto(`${emulator.admin_url}/#/control?part=${part}`);
    const shell = page.locator('details', { has: page.getByText('Shell commands', { exact: true }) });
    await shell.locator('code').first().waitFor({ state: 'attached' });
    const found = await shell.locator('code').allTextContents();
    t.ok(found.length > 0, part);
    lines.push(...found);
  }
  // Run the first line of each command that the page shows. Later lines fail, because they restore or remove objects
  // that do not exist.
  const commands = new Map(
    lines.map((line) => [/^npx emulator (\w+)/.exec(line)![1]!, line]).toReversed() as [string, string][],
  );
  commands.delete('start');
  const run = [...commands.values()].map(async (line) => {
    const command = line.replace(/^npx emulator/, `'${process.execPath}' '${BIN}'`);
    const failure = await promisify(execFile)('/bin/sh', ['-c', command]).then(
      () => '',
      (error: Error) => error.message,
    );
    t.equal(failure, '', line);
  });
  await Promise.all(run);
  t.ok(commands.size > 8, [...commands.keys()].join(' '));
  t.same(complaints, []);
});

t.test('every part fits, wide and narrow, and axe finds nothing serious', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1440, 'light'],
  ] as const) {
    const { page } = await openPage(t, emulator, {
      at: '#/control',
      viewport: { width, height: 800 },
      colorScheme,
      bypassCSP: true,
    });
    await page.getByRole('heading', { level: 1 }).waitFor();
    const parts = await page
      .locator('.parts-select option')
      .evaluateAll((options) => options.map((one) => (one as HTMLOptionElement).value));
    t.equal(parts.length, 10);
    for (const part of sample(t, parts, 4)) {
      await page.goto(`${emulator.admin_url}/#/control?part=${part}`);
      const isShown = (wanted: string) =>
        document.querySelector<HTMLSelectElement>('.parts-select select')?.value === wanted;
      await page.waitForFunction(isShown, part);
      await page.locator('main .loading').first().waitFor({ state: 'detached' });
      t.same(await accessibilityFaults(page), [], `${part} ${width}`);
      const widest = await page.evaluate(() => document.querySelector('main')!.scrollWidth);
      t.ok(widest <= width, `${part} fits into ${width}: ${widest}`);
    }
  }
});
