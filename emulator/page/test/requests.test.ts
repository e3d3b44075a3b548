import t from 'tap';
import { openPage, skip, startProcess } from './browser.js';
import { confirm } from './confirm.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { detail, filterOf, journalOf, requests, row, startClient, waitForCount } from './request-view.js';

t.setTimeout(120_000);

t.test(
  'a filter is part of the address, applies to new requests, and is removed by going back',
  { skip },
  async (t) => {
    const { emulator, call } = await startClient(t);
    for (const path of ['one', 'two']) await call(`/api/v1/repos/file?path=${path}`);
    const { page, complaints } = await openPage(t, emulator);
    await waitForCount(page, 3);
    await requests(page).getByRole('button', { name: '404' }).first().click();
    t.match(page.url(), /#\/requests\?status=404$/);
    await waitForCount(page, 2);
    await eventuallyEquals(t, () => filterOf(page).inputValue(), 'status=404');
    await call('/api/v1/repos/file?path=three');
    await call('/api/v1/repo');
    await row(page, /path=three/).waitFor();
    await eventuallyEquals(t, () => requests(page).getByRole('listitem').count(), 3, 'what comes is filtered too');
    await page.goBack();
    await waitForCount(page, 5);
    await page.goForward();
    // Wait until the field shows the filter from the page's address. Otherwise that filter would later replace the
    // typed text.
    await eventuallyEquals(t, () => filterOf(page).inputValue(), 'status=404');
    const words = 'status=4xx operation=read* two';
    await filterOf(page).fill(words);
    await page.keyboard.press('Enter');
    await waitForCount(page, 1);
    t.match(page.url(), /status=4xx&operation=read\*&text=two$/);
    await page.reload();
    await row(page, /path=two/).waitFor();
    await eventuallyEquals(t, () => filterOf(page).inputValue(), words);
    t.same(complaints, []);
    for (const [wrong, sentence] of [
      ['status=abc', /status.*such as 4xx/],
      ['operation=nothing', /unknown operation "nothing"/],
      ['colour=red', /colour/],
    ] as const) {
      await filterOf(page).fill(wrong);
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByRole('alert').getByText(sentence).waitFor();
    }
    await filterOf(page).fill('status=4xx oper');
    await page.locator('datalist option[value="status=4xx operation="]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Remove the filter' }).click();
    await waitForCount(page, 5);
  },
);

t.test('the keyboard moves along the rows, opens a request and closes it', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  for (let at = 0; at < 60; at++) await call(`/api/v1/repos/file?path=f${at}.`);
  const { page } = await openPage(t, emulator);
  await row(page, /path=f59\./).focus();
  await page.keyboard.press('ArrowDown');
  await call('/api/v1/repos/file?path=new.');
  await page.getByRole('button', { name: '1 new ↑' }).waitFor();
  await eventuallyMatches(
    t,
    () => page.evaluate(() => document.activeElement?.textContent ?? null),
    /f58\./,
    'what comes moves nothing',
  );
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('/api/repos'));
  await page.keyboard.press('PageUp');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('path=f9.'));
  await page.keyboard.press('Enter');
  await detail(page).getByRole('heading', { name: '404 GET readFile' }).waitFor();
  await page.keyboard.press('Escape');
  await detail(page).waitFor({ state: 'detached' });
  t.match(page.url(), /#\/requests$/);
  await eventuallyMatches(
    t,
    () => page.evaluate(() => document.activeElement?.textContent ?? null),
    /f9\./,
    'the focus stays with its row',
  );
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Close the request' }).press('Enter');
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('path=f9.'));
  await page.getByRole('button', { name: '1 new ↑' }).click();
  await row(page, /path=new\./).waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await call('/api/v1/repos/file?path=paused.');
  await page.getByRole('button', { name: '1 new ↑' }).waitFor();
  await eventuallyEquals(t, () => row(page, /path=paused\./).count(), 0);
  await page.getByRole('button', { name: 'Resume' }).click();
  await row(page, /path=paused\./).waitFor();
  await page.getByRole('button', { name: 'Clear the journal…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  t.not((await journalOf(emulator)).length, 0, 'nothing is cleared without an answer');
  await confirm(page, 'Clear the journal…');
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
  t.same(await journalOf(emulator), []);
});

t.test('the page reports a restored state and a lost one', { skip }, async (t) => {
  const emulator = await startProcess(t);
  const { call } = await startClient(t, emulator);
  const { page } = await openPage(t, emulator);
  await row(page, '201 POST /api/repos').waitFor();
  await call('/api/v1/repo?before');
  const admin = (path: string, body?: object) =>
    fetch(`${emulator.admin_url}/${path}`, {
      method: 'POST',
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  const { id } = (await (await admin('snapshots', {})).json()) as { id: string };
  await admin('reset');
  await page.getByText('since the state was restored').waitFor();
  await call('/api/v1/repo');
  await row(page, '404 GET /api/v1/repo').waitFor();
  await eventuallyEquals(t, () => requests(page).getByRole('listitem').count(), 1);
  await admin(`snapshots/${id}/restore`);
  await call('/api/v1/repo?after');
  await row(page, '200 GET /api/v1/repo?after').waitFor();
  await eventuallyEquals(t, () => requests(page).getByRole('listitem').count(), 1);
  process.kill(emulator.pid, 'SIGKILL');
  await page.getByText('the emulator does not respond').waitFor();
  await eventuallyEquals(
    t,
    () => requests(page).getByRole('listitem').count(),
    1,
    'requests that are already listed stay',
  );
});
