import type { Page } from 'playwright-core';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip, startProcess } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { detail, filterOf, startClient, waitForCount } from './request-view.js';
import { mint } from './token.js';

t.setTimeout(120_000);

const axisOf = (page: Page) => page.getByRole('region', { name: 'Time axis' });
const barOf = (page: Page, name: string | RegExp) => axisOf(page).getByRole('link', { name });
const laneOf = (page: Page, name: string) => axisOf(page).locator('.axis-lane').filter({ hasText: name });
const focusedName = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? null);

/** Start, duration and emulator's time of each request of the story, in milliseconds. */
const TIMES: readonly (readonly [started: number, duration: number, began: number])[] = [
  [1_000, 10, 1_000],
  [1_060, 10, 1_060],
  [1_120, 10, 1_120],
  [1_200, 200, 1_200],
  [1_250, 200, 1_250],
  [591_000, 10, 4_191_000],
  [591_100, 10, 4_191_100],
];

/** Replaces the times in the journal that the page reads, so that positions on the axis do not depend on the machine. */
async function setTimes(page: Page): Promise<void> {
  await page.route(/\/_emulator\/requests\?/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { items: { id: string }[] };
    const items = body.items.map((item) => {
      const [started, duration, began] = TIMES[Number(item.id.slice(4)) - 1]!;
      return { ...item, started, duration, began: new Date(began).toISOString() };
    });
    await route.fulfill({ response, json: { ...body, items } });
  });
}

t.test('requests are bars on a time axis with a lane per client', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  const limited = { headers: { 'x-emulator-fault': 'rate_limited;retry-after=60' } };
  await call('/api/v1/repo', limited);
  await call('/api/v1/repo', limited);
  for (const path of ['slow', 'slower']) await call(`/api/v1/repos/file?path=${path}`);
  const bob = await mint(emulator, { repo: 'team/app', sub: '<b>bob</b>\u202e' });
  await fetch(`${emulator.base_url}/api/v1/repo`, {
    headers: { authorization: `Bearer ${bob}`, 'user-agent': 'ci/1' },
  });
  await fetch(`${emulator.base_url}/api/v1/repo`, { headers: { 'user-agent': 'curl/8.5.0' } });
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await t.test(`at ${width} pixels`, async (t) => {
      const viewport = { width, height: 900 };
      const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme, bypassCSP: true });
      await setTimes(page);
      await page.reload();
      await waitForCount(page, 7);
      await page.getByRole('button', { name: 'Time axis' }).press('Enter');
      t.match(page.url(), /#\/requests\?axis=client$/);

      // Lanes, names of bars, and the marks of retries, broken rules, pauses and moves of the clock.
      await barOf(page, '401').waitFor();
      const lanes = axisOf(page).locator('.axis-lane');
      t.same(await lanes.locator('.axis-client').allTextContents(), ['ada', '<b>bob</b>⟦U+202E⟧', 'curl/8.5.0']);
      await barOf(page, /^GET \/api\/v1\/repo 429, 10 ms, retry of req-00000002, breaks .*retry-after/).waitFor();
      await eventuallyMatches(t, () => laneOf(page, 'ada').locator('.axis-flag').textContent(), /^! .*retry-after/);
      await axisOf(page)
        .getByText(/^7 requests of 3 clients in 9 min 50 s/)
        .waitFor();
      await axisOf(page).getByRole('link', { name: 'client rule broken' }).waitFor();
      t.same(await axisOf(page).locator('.axis-pause').allTextContents(), ['9 min 49 s']);
      t.same(await axisOf(page).locator('.axis-change').allTextContents(), ['clock +1 h']);
      t.equal(await axisOf(page).locator('.axis-retry').count(), 1);
      const box = async (name: RegExp) => (await barOf(page, name).boundingBox())!;
      const [slow, slower] = [await box(/path=slow /), await box(/path=slower /)];
      t.ok(slower.x < slow.x + slow.width, 'the requests overlap in time');
      t.ok(slower.y >= slow.y + slow.height, 'and are below each other');
      t.equal(await barOf(page, /path=slow /).getAttribute('data-text'), '404');
      t.same(await accessibilityFaults(page), []);
      t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'only the box scrolls sideways');

      // Keyboard.
      t.equal(await laneOf(page, 'ada').locator('[tabindex="0"]').count(), 1, 'one tab stop per lane');
      await laneOf(page, 'ada').locator('[tabindex="0"]').focus();
      await page.keyboard.press('End');
      await eventuallyMatches(t, () => focusedName(page), /path=slower /);
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await eventuallyMatches(t, () => focusedName(page), /429.*retry of/);
      await page.keyboard.press('ArrowDown');
      await eventuallyMatches(t, () => focusedName(page), /^GET \/api\/v1\/repo 200/);
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Home');
      await eventuallyMatches(t, () => focusedName(page), /^POST \/api\/repos 201/);
      t.equal(await laneOf(page, 'ada').locator('[tabindex="0"]').textContent(), await focusedName(page));

      // Zoom. The axis then has its own scroll bar.
      const scrolled = () =>
        axisOf(page)
          .locator('.axis-scroller')
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
      const hasScrolled = width < 1000 && (await scrolled());
      t.equal(hasScrolled, false, 'the axis fits at first');
      for (let n = 0; n < 3; n++) await page.getByRole('button', { name: 'Zoom in' }).click();
      await eventuallyEquals(t, scrolled, true);
      await laneOf(page, 'ada').locator('[tabindex="0"]').focus();
      await page.keyboard.press('End');
      await eventuallyMatches(t, () => focusedName(page), /path=slower /, 'a bar outside of the view gets the focus');
      t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      t.same(await accessibilityFaults(page), []);
      await page.getByRole('button', { name: 'Fit', exact: true }).click();
      await eventuallyEquals(t, scrolled, false);
      await page.getByLabel('Shorten long pauses').uncheck();
      await eventuallyEquals(t, () => axisOf(page).locator('.axis-pause').count(), 0);
      await barOf(page, /^\d requests, \d failed, 1 retry.*first failed GET/).waitFor();
      await page.getByLabel('Shorten long pauses').check();

      // A bar opens the request; the filter applies; lanes by user agent.
      await barOf(page, /path=slower /).press('Enter');
      await detail(page).getByRole('heading', { name: '404 GET readFile' }).waitFor();
      t.match(page.url(), /axis=client&id=req-00000005/);
      if (width > 1000) t.equal(await barOf(page, /path=slower /).getAttribute('aria-current'), 'true');
      await page.keyboard.press('Escape');
      await page.getByLabel('By user agent').check();
      t.match(page.url(), /axis=agent/);
      await eventuallyEquals(
        t,
        async () => (await lanes.locator('.axis-client').allTextContents()).join(),
        'node,ci/1,curl/8.5.0',
      );
      await filterOf(page).fill('status=401');
      await page.keyboard.press('Enter');
      await axisOf(page)
        .getByText(/^1 request of 1 client/)
        .waitFor();
      await page.reload();
      await axisOf(page)
        .getByText(/^1 request of 1 client/)
        .waitFor();
      await filterOf(page).fill('status=409');
      await page.keyboard.press('Enter');
      await axisOf(page).getByText('No requests are listed.').waitFor();
      await page.getByRole('button', { name: 'Time axis' }).click();
      await axisOf(page).waitFor({ state: 'detached' });
      t.same(complaints, []);
      await page.goto(`${emulator.admin_url}/#/requests?axis=day`);
      await page.getByRole('alert').getByText('Use client or agent.', { exact: false }).waitFor();
    });
  }
});

t.test('thousands of requests are merged, and lanes outside of the view are not drawn', { skip }, async (t) => {
  const emulator = await startProcess(t);
  const sent = 1_500;
  const send = async (n: number) => {
    const headers = { 'user-agent': n < 60 ? `client-${n}/1` : 'crowd/1' };
    await (await fetch(`${emulator.base_url}/nothing?n=${n}.`, { headers })).text();
  };
  for (let n = 0; n < sent; n += 50) await Promise.all(Array.from({ length: 50 }, (_, at) => send(n + at)));
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    const viewport = { width, height: 900 };
    const { page, complaints } = await openPage(t, emulator, {
      viewport,
      colorScheme,
      bypassCSP: true,
      at: '#/requests?axis=client',
    });
    await axisOf(page)
      .getByText(/^1,500 requests of 61 clients/)
      .waitFor();
    const drawn = axisOf(page).locator('.axis-lane');
    t.ok((await drawn.count()) < 30, 'only lanes in view');
    t.equal(await drawn.first().getAttribute('aria-setsize'), '61');
    t.same(await accessibilityFaults(page), []);
    // The lane of the many requests is the last one.
    await drawn.first().getByRole('link').first().focus();
    for (let lane = 1; lane < 61; lane++) await page.keyboard.press('ArrowDown');
    const crowd = laneOf(page, 'crowd');
    await crowd.waitFor();
    await page.waitForFunction(() => document.activeElement?.closest('.axis-lane')?.textContent?.includes('crowd'));
    const names = await crowd.getByRole('link').allTextContents();
    const counts = names.map((name) => Number(/^([\d,]+) requests/.exec(name)?.[1]?.replace(',', '') ?? 1));
    t.equal(
      counts.reduce((sum, one) => sum + one, 0),
      sent - 60,
      'the names have the numbers of requests',
    );
    t.ok(names.some((name) => /^\d+ requests, \d+ failed: first failed GET/.test(name)));
    t.ok(names.length < 700, `${names.length} bars`);
    await filterOf(page).fill('1499.');
    await page.keyboard.press('Enter');
    await axisOf(page)
      .getByText(/^1 request of 1 client/)
      .waitFor();
    t.equal(await barOf(page, 'n=1499.').count(), 1);
    t.same(complaints, []);
  }
});
