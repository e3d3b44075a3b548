import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { filterOf, row, startClient, waitForCount } from './request-view.js';

t.setTimeout(120_000);

t.test('errors are counted by code, operation and client, and a count sets the filter', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  const git = { 'user-agent': 'git/2.50.1 (Apple Git-155)' };
  const missing = (n: number) => call(`/api/v1/repos/file?path=${n}.`, { headers: n < 3 ? git : {} });
  for (let n = 0; n < 5; n++) await missing(n);
  await call('/api/v1/repo', { headers: { ...git, 'x-emulator-fault': 'rate_limited' } });
  await call('/api/v1/repo', { headers: { ...git, 'x-emulator-fault': 'cut;bytes=5' } })
    .then((response) => response.text())
    .catch(() => {});
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    const { page, complaints } = await openPage(t, emulator, {
      viewport: { width, height: 900 },
      colorScheme,
      bypassCSP: true,
    });
    const toggle = page.getByRole('button', { name: 'Count errors' });
    const groups = page.getByRole('region', { name: 'Error counts' }).first();
    const cells = async () =>
      (await groups.getByRole('row').allTextContents())
        .slice(1)
        .map((text) => text.replaceAll(/\s+/g, ' '))
        .join('; ');
    const expected = width === 1440 ? 3 : 4;
    await row(page, /path=4\./).waitFor();
    await toggle.press('Enter');
    t.match(page.url(), /groups=errors$/);
    await groups.getByRole('link').nth(2).waitFor();
    const most = `${expected}404ref_not_foundreadFilegit/2.50.1`;
    await eventuallyEquals(t, async () => (await cells()).split('; ')[0], most);
    t.match(await cells(), /1429rate_limitedgetRepositorygit\/2\.50\.1/);
    t.match(await cells(), /1200cutgetRepositorygit\/2\.50\.1/);
    t.same(await accessibilityFaults(page), []);
    t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'no horizontal scroll bar');
    if (width === 1440) {
      await missing(0);
      await eventuallyEquals(t, async () => (await cells()).slice(0, 4), '4404', 'counts follow new requests');
    }
    await groups.getByRole('link').first().press('Enter');
    const words = `failed=true status=404 code=ref_not_found operation=readFile userAgent="${git['user-agent']}"`;
    await eventuallyEquals(t, async () => await filterOf(page).inputValue(), words);
    await waitForCount(page, 4);
    await eventuallyEquals(t, cells, '4404ref_not_foundreadFilegit/2.50.1', 'only the combinations of the filter');
    await page.reload();
    await groups.getByRole('link').first().waitFor();
    await filterOf(page).fill('status=204 word');
    await page.keyboard.press('Enter');
    await groups.getByText('No errors match the filter.').waitFor();
    await groups.getByText('The counts ignore the words of the filter that have no name.').waitFor();
    await toggle.click();
    await groups.waitFor({ state: 'detached' });
    t.same(complaints, []);
    await page.goto(`${emulator.admin_url}/#/requests?groups=errors&status=abc`);
    await page.getByRole('alert').getByText('such as 4xx', { exact: false }).waitFor();
  }
});
