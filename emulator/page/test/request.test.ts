import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip, startEmulator } from './browser.js';
import { command, folder } from './command.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { detail, journalOf, requests, row, startClient, waitForCount } from './request-view.js';

// needs: git

t.setTimeout(120_000);

t.test('from nothing, by the lines that the page gives, to a clone that it shows', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator);
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
  await page.getByRole('button', { name: 'Insert a new token' }).click();
  await page.getByText('TOKEN=eyJ').waitFor();
  const [create, clone, push] = await page.locator('pre').allTextContents();
  const cwd = await folder(t);
  const tokenLine = create!.split('\n')[0]!;
  await command(cwd, '/bin/sh', '-ec', create!);
  await row(page, '201 POST /api/repos').waitFor();
  await command(cwd, '/bin/sh', '-ec', 'git init -q -b main w && cd w && git commit -q --allow-empty -m first');
  await command(`${cwd}/w`, '/bin/sh', '-ec', `${tokenLine}\n${push}`);
  await row(page, '200 POST /team/app.git/git-receive-pack').waitFor();
  await command(cwd, '/bin/sh', '-ec', `${tokenLine}\n${clone}`);
  await requests(page).getByText('fetch', { exact: true }).waitFor();
  await waitForCount(page, (await journalOf(emulator)).length);
  t.same(complaints, []);
});

t.test(
  'a request opens beside the list with all details, is sent again by a shell, and is made to fail',
  { skip },
  async (t) => {
    const { emulator, call } = await startClient(t);
    await call("/api/v1/repos/file?path=it's");
    const { page, complaints } = await openPage(t, emulator, { bypassCSP: true });
    await row(page, /path=it/).click();
    await detail(page).getByRole('heading', { name: '404 GET readFile' }).waitFor();
    t.match(page.url(), /id=req-00000002$/);
    t.ok(await requests(page).isVisible(), 'the list stays');
    const stop = detail(page).getByRole('listitem').filter({ hasText: 'stopped here' });
    await eventuallyMatches(t, () => stop.textContent(), /handler.*Code /s);
    await eventuallyMatches(t, () => detail(page).textContent(), /Subject \(sub\)ada/);
    t.notMatch(await detail(page).innerHTML(), /eyJ/, 'the token is nowhere');
    t.same(await accessibilityFaults(page), []);

    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Insert a new token' }).click();
    const line = detail(page).locator('.copy code');
    await line.getByText('TOKEN=eyJ').waitFor();
    const curl = (await line.textContent())!;
    const cwd = await folder(t);
    t.match(await command(cwd, '/bin/sh', '-c', curl), /^HTTP\/1\.1 404/);
    await waitForCount(page, 3);

    await page.getByRole('button', { name: 'Make this fail next time' }).click();
    const dialog = page.getByRole('dialog', { name: 'Make this fail next time' });
    await dialog.getByLabel('Fault', { exact: true }).selectOption('503 service_unavailable');
    await dialog.getByRole('button', { name: 'Add the fault' }).click();
    await dialog.getByText('Fault added').waitFor();
    await dialog.getByRole('button', { name: 'Remove the fault' }).click();
    await dialog.getByLabel('Fault', { exact: true }).selectOption('429 rate_limited');
    await dialog.getByLabel('retry-after').fill('7');
    await dialog.getByRole('button', { name: 'Add the fault' }).click();
    await dialog.getByText('Fault added').waitFor();
    await dialog.getByText('rate_limited*1;retry-after=7;match.op=readFile').first().waitFor();
    await dialog.getByText('Copy the fault as test').click();
    await dialog.getByRole('region', { name: 'TypeScript, a whole test' }).waitFor();
    t.same(await accessibilityFaults(page), []);
    await dialog.getByRole('button', { name: 'Done' }).click();
    t.match(await command(cwd, '/bin/sh', '-c', curl), /^HTTP\/1\.1 429[\s\S]*retry-after: 7/i);
    t.match(await command(cwd, '/bin/sh', '-c', curl), /^HTTP\/1\.1 404/, 'once');
    await row(page, /^429 GET/).click();
    await detail(page).getByRole('heading', { name: '429 GET readFile' }).waitFor();
    await detail(page).getByText('caused by a fault').waitFor();
    await detail(page).getByRole('link', { name: 'Newer request' }).click();
    await detail(page).getByText('Retry of').waitFor();
    t.match(
      (await journalOf(emulator)).map(({ status, origin }) => `${status} ${origin}`),
      ['201 real', '404 real', '404 real', /^429 injected:/, '404 real'],
    );
    t.same(complaints, []);
  },
);

t.test('at 360 pixels one is open alone, and back leads to the list', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repos/file?path=one');
  const viewport = { width: 360, height: 700 };
  const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme: 'dark', bypassCSP: true });
  await row(page, /path=one/).click();
  await detail(page).getByRole('heading', { name: '404 GET readFile' }).waitFor();
  t.notOk(await requests(page).isVisible());
  await eventuallyEquals(
    t,
    () => page.evaluate(() => document.activeElement?.tagName),
    'H2',
    'the focus is on what has opened',
  );
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  t.same(await accessibilityFaults(page), []);
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await page.keyboard.press('Escape');
  await row(page, /path=one/).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes('path=one'));
  await page.goBack();
  await page.goForward();
  await row(page, /path=one/).waitFor();
  t.same(await accessibilityFaults(page), []);
  t.same(complaints, []);
});
