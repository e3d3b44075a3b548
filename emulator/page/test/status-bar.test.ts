import type { Page } from 'playwright-core';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin } from './admin-request.js';
import { openPage, skip, startProcess } from './browser.js';
import { row, startClient } from './request-view.js';

t.setTimeout(120_000);

const bar = (page: Page) => page.getByRole('list', { name: 'State of the emulator' });
const item = (page: Page, name: string | RegExp) => bar(page).getByRole('link', { name, exact: true });

const SCENARIO = {
  id: 'two-steps',
  steps: [
    { after: 'PT1H', release: 'gate' },
    { after: 'PT1H', release: 'gate' },
  ],
};

t.test('the header shows faults, new errors, the clock and the scenario, each as a link', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repos/file?path=seen-before');
  const { page, complaints } = await openPage(t, emulator, { at: '#/verify' });
  await item(page, '0 armed faults').waitFor();
  await item(page, '0 new errors').waitFor();
  await item(page, 'live').waitFor();
  t.equal(await bar(page).getByRole('link').count(), 3, 'the real clock is not shown');

  await admin(emulator, 'POST', 'faults', { spec: 'rate_limited*1', match: { op: 'listBranches' } });
  await admin(emulator, 'POST', 'faults', { spec: 'internal_error', match: { op: 'listTags' } });
  await call('/api/v1/repos/file?path=none');
  await call('/api/v1/repo');
  await item(page, '1 new error').waitFor();
  await item(page, '2 armed faults').waitFor();
  await call('/api/v1/repos/branches');
  await item(page, '2 new errors').waitFor();
  await item(page, '1 armed fault').waitFor();

  await admin(emulator, 'PATCH', 'clock', { mode: 'frozen', now: '2026-01-01T00:00:00Z' });
  await admin(emulator, 'POST', 'scenarios', { ...SCENARIO, start: true });
  await item(page, 'two-steps: step 1 of 2').waitFor();
  await item(page, 'clock frozen 2026-01-01 00:00:00').waitFor();
  await admin(emulator, 'PATCH', 'clock', { advance: 'PT1H' });
  await item(page, 'two-steps: step 2 of 2').waitFor();
  await admin(emulator, 'PATCH', 'clock', { mode: 'real' });
  await item(page, 'two-steps: all steps done').waitFor();
  await item(page, /^clock/).waitFor({ state: 'detached' });
  await admin(emulator, 'PATCH', 'clock', { advance: 'PT2H' });
  await item(page, /^clock set to/).waitFor();

  for (const [name, address] of [
    ['1 armed fault', /#\/faults$/],
    ['two-steps: all steps done', /#\/scenarios\?id=two-steps$/],
    [/^clock set to/, /#\/control\?part=clock$/],
    ['live', /#\/control\?part=about$/],
    ['2 new errors', /#\/requests\?status=4xx%2C5xx$/],
  ] as const) {
    await item(page, name).press('Enter');
    await page.waitForURL(address);
  }
  await row(page, /path=none/).waitFor();
  await item(page, '0 new errors').waitFor();
  await call('/api/v1/repos/file?path=while-looking');
  await row(page, /path=while-looking/).waitFor();
  await item(page, '0 new errors').waitFor();
  await page.goto(`${emulator.admin_url}/#/repositories`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await item(page, '0 new errors').waitFor();
  t.same(complaints, []);
});

t.test('at 390 pixels the header covers nothing, and shows that the connection is lost', { skip }, async (t) => {
  const emulator = await startProcess(t, '--clock', '2026-01-01T00:00:00Z');
  await admin(emulator, 'POST', 'scenarios', { ...SCENARIO, id: `long-${'name'.repeat(10)}`, start: true });
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = { width: 390, height: 800 };
    const { page, complaints } = await openPage(t, emulator, {
      at: '#/faults',
      viewport,
      colorScheme,
      bypassCSP: true,
    });
    await item(page, /^clock/).waitFor();
    await page.getByText('No armed faults').waitFor();
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    const isAbove = await page.evaluate(
      () =>
        document.querySelector('.bar')!.getBoundingClientRect().bottom <=
        document.querySelector('main')!.getBoundingClientRect().top,
    );
    t.ok(isAbove);
    const widths = await bar(page)
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().right));
    t.equal(widths.length, 5);
    t.ok(
      widths.every((right) => right <= 390),
      widths.join(' '),
    );
    t.same(await accessibilityFaults(page), []);
    t.same(complaints, []);
  }
  const { page } = await openPage(t, emulator, { at: '#/requests' });
  const { page: other } = await openPage(t, emulator, { at: '#/verify' });
  for (const one of [page, other]) await item(one, 'live').waitFor();
  process.kill(emulator.pid, 'SIGKILL');
  for (const one of [page, other]) await item(one, 'reconnecting').waitFor();
});
