import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip, startEmulator } from './browser.js';
import { eventuallyMatches } from './eventually.js';
import { mint } from './token.js';

t.setTimeout(120_000);

t.test('clients are distinguished by token, and link to the requests that broke a rule', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/verify', bypassCSP: true });
  await page.getByRole('heading', { name: 'No rule was applicable yet' }).waitFor();
  const summary = page.getByRole('status').filter({ hasText: '0 rules kept, 0 broken, 10 not applicable' });
  t.equal(await summary.getAttribute('class'), null, 'that nothing happened is no success');
  const hasty = '<b>hasty</b>\u202e';
  for (const [sub, times] of [
    [hasty, 2],
    ['patient', 1],
  ] as const) {
    const token = await mint(emulator, { repo: 'team/app', sub });
    for (let time = 0; time < times; time++) {
      const headers = { authorization: `Bearer ${token}`, 'x-emulator-fault': 'rate_limited;retry-after=60' };
      await fetch(`${emulator.base_url}/api/v1/repo`, { headers });
    }
  }
  await page.getByRole('button', { name: 'Verify again' }).click();
  await page.getByText('2 rules kept, 1 broken, 7 not applicable').waitFor();
  const shown = '<b>hasty</b>⟦U+202E⟧';
  t.same(await page.getByRole('columnheader').allTextContents(), [
    'Client',
    'retry-after',
    'expired-token',
    'secret-in-url',
  ]);
  const cells = (client: string) => page.getByRole('row', { name: client }).getByRole('cell').allTextContents();
  t.same(await cells(shown), ['✕ broken 1 of 1', '✓ kept 2', '✓ kept 2']);
  t.same(await cells('patient'), ['–not applicable', '✓ kept 1', '✓ kept 1']);
  t.match(await page.getByRole('columnheader').nth(1).locator('code').getAttribute('title'), /Retry-After/);
  const unseen = page.getByText('7 rules not applicable');
  t.equal(await page.getByText('git-retry').isVisible(), false, 'closed at first');
  await unseen.click();
  t.ok(await page.getByText('git-retry').isVisible());
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    await page.emulateMedia({ colorScheme });
    t.same(await accessibilityFaults(page), []);
    t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'only the table scrolls sideways');
    // The column of the clients stays at its place when the table scrolls.
    const client = page.getByRole('rowheader', { name: 'patient' });
    const before = (await client.boundingBox())!.x;
    const left = await page.locator('.scroll-box').evaluate((box) => {
      box.scrollLeft = 1_000;
      return box.scrollLeft;
    });
    t.equal(left > 0, width === 390, `scrolled by ${left}`);
    t.equal(Math.round((await client.boundingBox())!.x), Math.round(before));

    // A result leads to the details of its rule, which name the requests.
    await page.getByRole('row', { name: 'patient' }).getByRole('link').first().press('Enter');
    t.match(page.url(), /#\/verify\?rule=expired-token$/);
    await page.waitForFunction(() => document.activeElement?.id === 'rule-expired-token');
    await page.getByRole('link', { name: '✕ broken 1 of 1' }).click();
    await page.waitForFunction(() => document.activeElement?.id === 'rule-retry-after');
    const broken = page.getByRole('region', { name: /^retry-after/ });
    await eventuallyMatches(t, () => broken.textContent(), `by ${shown}`);
    await broken.getByRole('link', { name: 'req-00000002' }).click();
    await page.getByRole('heading', { name: '429 GET getRepository' }).waitFor();
    await page.goBack();
    await page.waitForFunction(() => document.activeElement?.id === 'rule-retry-after');
    t.match(await page.title(), /^Verify: retry-after – /);
  }
  await page.goto(`${emulator.admin_url}/#/verify?rule=git-retry`);
  await page.getByText('git-retry').waitFor();
  await page.goto(`${emulator.admin_url}/#/verify?rule=nothing`);
  await page.getByRole('alert').getByText('The client rule "nothing" is unknown').waitFor();
  t.same(complaints, []);
});
