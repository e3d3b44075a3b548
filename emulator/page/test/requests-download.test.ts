import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin, isOwn } from './admin-request.js';
import { openPage, skip } from './browser.js';
import { startClient, waitForCount } from './request-view.js';

t.setTimeout(120_000);

interface Archive {
  readonly log: { readonly entries: readonly { readonly request: { readonly url: string } }[] };
}

/** Clicks on a button of the download dialog, and returns the name and the content of the file. */
async function saved(page: Page, label: string): Promise<{ name: string; text: string }> {
  const event = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).press('Enter');
  const download = await event;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

t.test('the requests that the filter selects are downloaded in each form', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await admin(emulator, 'POST', 'faults', { spec: 'internal_error*1', match: { op: 'listBranches' } });
  for (const path of ['repos/branches', 'repos/file?path=one', 'repos/file?path=two']) await call(`/api/v1/${path}`);
  const viewport = { width: 390, height: 800 };
  const { page, complaints } = await openPage(t, emulator, {
    at: '#/requests?status=4xx,5xx',
    viewport,
    bypassCSP: true,
  });
  const open = async (filter: string, count: number) => {
    await page.goto(`${emulator.admin_url}/#/requests${filter}`);
    await waitForCount(page, count);
    await page.getByRole('button', { name: 'Download…' }).press('Enter');
    await page.getByRole('dialog', { name: 'Download requests' }).waitFor();
  };
  await open('?status=4xx,5xx', 3);
  await page.getByRole('dialog').getByText('status=4xx,5xx', { exact: true }).waitFor();
  t.same(await accessibilityFaults(page), []);
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  const urls = ({ log }: Archive) => log.entries.map(({ request }) => request.url.replace(/.*\//, ''));
  const har = await saved(page, 'HAR');
  t.equal(har.name, 'requests.har');
  t.same(urls(JSON.parse(har.text)), ['branches', 'file?path=one', 'file?path=two']);
  const lines = await saved(page, 'NDJSON');
  t.equal(lines.name, 'requests.ndjson');
  const paths = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).query);
  t.same(paths(lines.text), ['', 'path=one', 'path=two']);
  const scenario = await saved(page, 'Scenario');
  t.equal(scenario.name, 'scenario.yaml');
  t.match(scenario.text, /^id: requests[\s\S]*op: listBranches[\s\S]*internal_error/);
  await page.keyboard.press('Escape');

  await open('?status=4xx&text=one', 1);
  t.same(urls(JSON.parse((await saved(page, 'HAR')).text)), ['file?path=one']);
  t.same(paths((await saved(page, 'NDJSON')).text), ['path=one']);
  await page.getByRole('dialog').getByRole('button', { name: 'Scenario' }).click();
  await page.getByRole('alert').getByText('only be made with named filters').waitFor();
  await page.keyboard.press('Escape');

  await open('?operation=createRepository', 1);
  await page.getByRole('dialog').getByRole('button', { name: 'Scenario' }).waitFor();
  await page.keyboard.press('Escape');
  await page.goto(`${emulator.admin_url}/#/requests?operation=listTags`);
  await page.getByRole('button', { name: 'Download…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Scenario' }).click();
  await page.getByRole('alert').getByText('cannot become a scenario').waitFor();
  t.same(complaints.filter(isOwn), []);
});
