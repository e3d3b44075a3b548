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
  const summary = page.getByRole('status').filter({ hasText: '0 kept, 0 broken, 10 not applicable' });
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
  await page.getByText('2 kept, 1 broken, 7 not applicable').waitFor();
  const shown = '<b>hasty</b>⟦U+202E⟧';
  t.same(await page.getByRole('columnheader').allTextContents(), ['Rule', shown, 'patient']);
  const cells = (rule: string) => page.getByRole('row', { name: rule }).getByRole('cell').allTextContents();
  t.same(await cells('retry-after'), ['✕ broken 1 of 1', '–']);
  t.same(await cells('expired-token'), ['✓ kept 2', '✓ kept 1']);
  t.same(await accessibilityFaults(page), []);
  const broken = page.getByRole('region', { name: 'retry-after' });
  await eventuallyMatches(t, () => broken.textContent(), `by ${shown}`);
  await broken.getByRole('link', { name: 'req-00000002' }).click();
  await page.getByRole('heading', { name: '429 GET getRepository' }).waitFor();
  await page.goBack();
  await page.getByText('2 kept, 1 broken').waitFor();
  await page.setViewportSize({ width: 360, height: 700 });
  t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
  t.same(complaints, []);
});
