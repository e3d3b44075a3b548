import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { detail, filterOf, requests, row, startClient, waitForCount } from './request-view.js';

t.setTimeout(120_000);

t.test('buttons filter errors, Git and injected faults, alone and together', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repos/file?path=none');
  await call('/api/v1/repo', { headers: { 'x-emulator-fault': 'latency;ms=1' } });
  const advertise = '/team/app.git/info/refs?service=git-upload-pack';
  await call(advertise);
  await call(advertise, { headers: { 'x-emulator-fault': 'internal_error' } });
  await call('/api/v1/repo?cut', { headers: { 'x-emulator-fault': 'cut;bytes=5' } })
    .then((response) => response.text())
    .catch(() => {});
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme, bypassCSP: true });
    const chip = (name: string) => page.getByRole('button', { name, exact: true });
    await waitForCount(page, 6);
    await chip('Errors').press('Enter');
    t.match(page.url(), /#\/requests\?failed=true$/);
    await waitForCount(page, 3);
    await row(page, '200 GET /api/v1/repo?cut').waitFor();
    await eventuallyEquals(t, () => filterOf(page).inputValue(), 'failed=true');
    await chip('Injected').click();
    await waitForCount(page, 2);
    await chip('Git').click();
    await waitForCount(page, 1);
    await row(page, `500 GET ${advertise}`).waitFor();
    await eventuallyEquals(t, () => filterOf(page).inputValue(), 'failed=true fault=* operation=git*');
    t.equal(await chip('Git').getAttribute('aria-pressed'), 'true');
    t.same(await accessibilityFaults(page), []);
    t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'no horizontal scroll bar');
    await page.reload();
    await waitForCount(page, 1);
    await chip('Errors').click();
    await chip('Git').click();
    await waitForCount(page, 3);
    t.match(page.url(), /#\/requests\?fault=\*$/);
    // The filter typed in the form and the buttons are the same filter.
    await filterOf(page).fill('operation=git* failed=false');
    await page.keyboard.press('Enter');
    await waitForCount(page, 1);
    t.equal(await chip('Git').getAttribute('aria-pressed'), 'true');
    t.equal(await chip('Errors').getAttribute('aria-pressed'), 'false');
    t.same(complaints, []);
    await filterOf(page).fill('failed=maybe');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('failed: must be true or false', { exact: false }).waitFor();
  }
});

t.test('the key / goes to the filter and ? lists the keys, but not while the user types', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repo');
  const { page, complaints } = await openPage(t, emulator, { bypassCSP: true });
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  const hasFocus = () => filterOf(page).evaluate((field) => field === document.activeElement);
  await row(page, '200 GET /api/v1/repo').focus();
  await page.keyboard.press('/');
  await eventuallyEquals(t, hasFocus, true);
  await page.keyboard.type('a/b?');
  t.equal(await filterOf(page).inputValue(), 'a/b?', 'keys are text in the field');
  t.equal(await dialog.count(), 0);
  await filterOf(page).fill('');
  await row(page, '200 GET /api/v1/repo').press('?');
  await dialog.waitFor();
  await dialog.getByText('Go to the filter').waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.keyboard.press('/');
  t.equal(await hasFocus(), false, 'a dialog is open');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await row(page, '200 GET /api/v1/repo').press('Control+/');
  t.equal(await hasFocus(), false, 'a shortcut of the browser');

  // On a narrow screen, the details hide the toolbar but not the dialog.
  await page.setViewportSize({ width: 390, height: 800 });
  await row(page, '200 GET /api/v1/repo').press('Enter');
  await detail(page).getByRole('heading', { name: '200 GET getRepository' }).waitFor();
  await page.keyboard.press('?');
  await dialog.waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.keyboard.press('Escape');
  await requests(page).waitFor();
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await dialog.waitFor();
  t.same(complaints, []);
});

t.test('the list names the client of each request, and filters by it', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  const clients = ['git/2.50.1 (Apple Git-155)', 'git/2.39.5', 'ci "runner"/1 \u00e9*'];
  for (const [at, userAgent] of clients.entries()) {
    await call(`/api/v1/repo?n=${at}.`, { headers: { 'user-agent': userAgent } });
  }
  const { page, complaints } = await openPage(t, emulator, { bypassCSP: true });
  await waitForCount(page, 4);
  const value = (name: string) => requests(page).getByRole('button', { name, exact: true });
  t.equal(await value('git/2.50.1').locator('bdi').getAttribute('title'), clients[0], 'full text in the tooltip');
  await value('git/2.50.1').click();
  await waitForCount(page, 1);
  await row(page, /n=0\./).waitFor();
  await eventuallyEquals(t, () => filterOf(page).inputValue(), 'userAgent="git/2.50.1 (Apple Git-155)"');
  await filterOf(page).fill('userAgent=git/*');
  await page.keyboard.press('Enter');
  await waitForCount(page, 2);
  await filterOf(page).fill('userAgent=gi');
  await page.locator('datalist option[value="userAgent=git/2.39.5"]').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Remove the filter' }).click();
  await waitForCount(page, 4);
  await value('ci').click();
  await waitForCount(page, 1);
  await row(page, /n=2\./).click();
  await detail(page).getByText('ci "runner"/1', { exact: false }).first().waitFor();
  t.same(await accessibilityFaults(page), []);

  // On a narrow screen, the list has no column for the client. The details have a link that sets the filter.
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${emulator.admin_url}/#/requests`);
  await row(page, /n=1\./).click();
  await detail(page).getByRole('link', { name: 'git/2.39.5' }).click();
  await eventuallyEquals(t, () => filterOf(page).inputValue(), 'userAgent=git/2.39.5');
  t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, 'no horizontal scroll bar');
  await page.keyboard.press('Escape');
  await waitForCount(page, 1);
  t.same(complaints, []);
});

t.test('the keys / and ? can be switched off, also without storage', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repo');
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme, bypassCSP: true });
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const box = dialog.getByLabel('Single keys / and ?');
    const focusRow = () => row(page, '200 GET /api/v1/repo').focus();
    const hasEffect = async () => {
      await focusRow();
      await page.keyboard.press('/');
      const isInFilter = await filterOf(page).evaluate((field) => field === document.activeElement);
      await focusRow();
      await page.keyboard.press('?');
      // Wait for two frames, in which the page would render the dialog.
      for (let n = 0; n < 2; n++) await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      const isOpen = (await dialog.count()) > 0;
      await page.keyboard.press('Escape');
      return [isInFilter, isOpen];
    };
    const setKeys = async (isOn: boolean) => {
      await page.getByRole('button', { name: 'Keyboard shortcuts', exact: true }).click();
      await box.setChecked(isOn);
      t.same(await accessibilityFaults(page), []);
      t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'no horizontal scroll bar');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    };
    t.same(await hasEffect(), [true, true]);
    await setKeys(false);
    t.same(await hasEffect(), [false, false]);
    t.equal(await filterOf(page).getAttribute('aria-keyshortcuts'), null);
    await page.keyboard.press('ArrowUp');
    await page.reload();
    await row(page, '200 GET /api/v1/repo').waitFor();
    t.same(await hasEffect(), [false, false], 'kept for later visits');
    await setKeys(true);
    t.same(await hasEffect(), [true, true]);
    t.equal(await page.evaluate(() => localStorage.length), 0);

    // A browser that allows no storage throws an error when the page reads `localStorage`.
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get: () => {
          throw new DOMException('denied', 'SecurityError');
        },
      });
    });
    await page.reload();
    await row(page, '200 GET /api/v1/repo').waitFor();
    await setKeys(false);
    t.same(await hasEffect(), [false, false]);
    t.same(complaints, []);
  }
});
