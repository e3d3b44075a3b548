import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { detail, filterOf, requests, row, startClient, waitForCount } from './request-view.js';

t.setTimeout(120_000);

t.test('the slowest requests come first, also with a filter, and new ones take their place', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  // The pauses differ by so much that the order is the same on a slow machine.
  const slow = (ms: number) => call(`/api/v1/repo?ms=${ms}.`, { headers: { 'x-emulator-fault': `latency;ms=${ms}` } });
  for (const ms of [600, 2400, 1]) await slow(ms);
  const { page, complaints } = await openPage(t, emulator, { bypassCSP: true });
  await waitForCount(page, 4);
  const list = page.getByRole('region', { name: 'Requests, slowest first' });
  const order = async () =>
    (await list.getByRole('link').allTextContents()).flatMap((text) => /ms=\d+/.exec(text) ?? []).join(' ');
  const toggle = page.getByRole('button', { name: 'Slowest first' });
  await toggle.press('Enter');
  t.match(page.url(), /order=slowest$/);
  await eventuallyEquals(t, order, 'ms=2400 ms=600 ms=1');
  t.equal(await filterOf(page).inputValue(), '', 'the order is not part of the filter');
  await filterOf(page).fill('fault=*');
  await page.keyboard.press('Enter');
  await waitForCount(page, 3);
  t.match(page.url(), /order=slowest&fault=\*$/);
  t.same(await accessibilityFaults(page), []);

  await slow(1200);
  await eventuallyEquals(t, order, 'ms=2400 ms=1200 ms=600 ms=1', 'a new request takes its place');
  await page.getByRole('button', { name: 'Pause' }).click();
  await slow(1800);
  await page.getByRole('button', { name: '1 new ↑' }).waitFor();
  await list.getByRole('link').last().focus();
  t.equal(await order(), 'ms=2400 ms=1200 ms=600 ms=1', 'nothing moves during the pause');
  await page.getByRole('button', { name: '1 new ↑' }).click();
  await eventuallyEquals(t, order, 'ms=2400 ms=1800 ms=1200 ms=600 ms=1');
  await list.getByRole('link', { name: /ms=1200/ }).click();
  await detail(page).getByRole('link', { name: 'Slower request' }).click();
  await detail(page).getByText('/api/v1/repo?ms=1800.').waitFor();
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 390, height: 800 });
  await eventuallyEquals(t, order, 'ms=2400 ms=1800 ms=1200 ms=600 ms=1');
  t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, 'no horizontal scroll bar');
  await toggle.click();
  await requests(page).waitFor();
  t.match(page.url(), /#\/requests\?fault=\*$/);
  t.same(complaints, []);
  await page.goto(`${emulator.admin_url}/#/requests?order=fastest`);
  await page.getByRole('alert').getByText('The order "fastest" is unknown. Use newest or slowest.').waitFor();
  await page.goBack();
  await row(page, /ms=600/).waitFor();
});

t.test('of a large journal only the slowest requests are read', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repo?slow', { headers: { 'x-emulator-fault': 'latency;ms=900' } });
  for (let at = 0; at < 40; at++) {
    await Promise.all(Array.from({ length: 25 }, (_, n) => call(`/api/v1/repo?n=${at}-${n}`)));
  }
  const { page, complaints } = await openPage(t, emulator, { at: '#/faults' });
  let asked = 0;
  page.on('request', (question) => {
    if (new URL(question.url()).pathname.endsWith('/requests')) asked += 1;
  });
  await page.goto(`${emulator.admin_url}/#/requests?order=slowest`);
  await page.getByText('500 requests · faster ones not shown', { exact: true }).waitFor();
  const links = page.getByRole('region', { name: 'Requests, slowest first' }).getByRole('link');
  await eventuallyEquals(t, () => links.first().textContent(), '200 GET /api/v1/repo?slow');
  t.ok((await links.count()) < 80, 'only rows in view are in the document');
  await call('/api/v1/repo?slower', { headers: { 'x-emulator-fault': 'latency;ms=1800' } });
  await eventuallyEquals(t, () => links.first().textContent(), '200 GET /api/v1/repo?slower');
  await page.getByText('500 requests · faster ones not shown', { exact: true }).waitFor();
  t.equal(asked, 1);
  t.same(complaints, []);
});
