import t from 'tap';
import { openPage, skip, startEmulator } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { fastImport, makeRepository, type WrittenCommit } from './git.js';

t.setTimeout(120_000);

const COMMITS = 20_000;

/**
 * Returns a history of `COMMITS` commits. Every ten commits, a branch of three commits is merged into the main line.
 */
function history(): WrittenCommit[] {
  return Array.from({ length: COMMITS }, (_, at) => {
    const number = at + 1;
    const place = number % 10;
    const message = `commit ${number}`;
    if (number === 1) return { message };
    if (place === 5) return { message, parents: [number - 4] };
    if (place === 8) return { message, parents: [number - 4, number - 1] };
    return { message, parents: [number - 1] };
  });
}

t.test('20,000 commits scroll: only what is in view is drawn, and the last one is reached', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { git, remote } = await makeRepository(t, emulator, 'team/large');
  await git(['fast-import', '--quiet'], { input: fastImport('main', history()) });
  await git(['push', '--quiet', remote(), 'main']);
  const { page, complaints } = await openPage(t, emulator, { at: '#/repository?name=team/large&tab=commits' });
  await page.getByText('20,000 commits').waitFor();
  const list = page.getByLabel('Commits, newest first');
  await list.getByRole('link', { name: 'commit 20000' }).waitFor();
  const measure = () =>
    list.evaluate((scroller) => ({
      rows: scroller.querySelectorAll('.virtual-row').length,
      elements: scroller.querySelectorAll('*').length,
      height: scroller.scrollHeight,
    }));
  const atTop = await measure();
  t.ok(atTop.rows < 60, `${atTop.rows} rows for 900 pixels`);
  t.equal(atTop.height, COMMITS * 30, 'the bar is of all commits');

  // Scroll by a few screens at a time, like a fast mouse wheel. Then scroll to the end.
  for (let step = 1; step <= 12; step++) {
    await list.evaluate((scroller, top) => scroller.scrollTo({ top }), step * 2_400);
    await list.getByRole('link', { name: `commit ${COMMITS - 80 * step}`, exact: true }).waitFor();
    const { rows } = await measure();
    t.ok(rows < 60, `${rows} rows in step ${step}`);
  }
  await list.evaluate((scroller) => scroller.scrollTo({ top: scroller.scrollHeight }));
  await list.getByRole('link', { name: 'commit 1', exact: true }).waitFor();
  const atEnd = await measure();
  t.ok(atEnd.rows < 60 && atEnd.elements < 1.5 * atTop.elements, `${atEnd.elements} elements`);
  t.equal(atEnd.height, COMMITS * 30);

  await list.locator('[data-row]').first().focus();
  await page.keyboard.press('Home');
  await page.waitForFunction(() => document.activeElement?.textContent === 'commit 20000');
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement?.textContent === 'commit 1');

  const asked = new Set<string>();
  page.on('request', (request) => asked.add(new URL(request.url()).pathname));
  await list.evaluate((scroller) => scroller.scrollTo({ top: 15_000 }));
  await list.getByRole('link', { name: 'commit 19500', exact: true }).waitFor();
  t.equal(asked.size, 0, 'what was loaded is not asked for again');

  // A commit must stay in view when its details open beside the list. The list becomes narrower then, and its rows
  // become higher.
  await list.evaluate((scroller) => scroller.scrollTo({ top: 300_000 }));
  const far = list.getByRole('link', { name: 'commit 9995', exact: true });
  const isInView = () =>
    far.evaluate((row) => {
      const [own, whole] = [row, row.closest('.virtual-list')!].map((one) => one.getBoundingClientRect());
      return own!.top >= whole!.top && own!.bottom <= whole!.bottom;
    });
  await far.click();
  await page.getByRole('button', { name: 'Close' }).waitFor();
  await page.waitForFunction((few) => document.querySelector('.virtual-list')!.scrollHeight > few, COMMITS * 40);
  t.ok(await isInView(), 'beside the open commit');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.waitForFunction((all) => document.querySelector('.virtual-list')!.scrollHeight === all, COMMITS * 30);
  t.ok(await isInView(), 'and when it is closed');
  t.same(complaints, []);
});

t.test('an open commit is in view, and its row has the focus when it is closed', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { git, remote } = await makeRepository(t, emulator, 'team/app');
  const commits = Array.from({ length: 300 }, (_, at) => ({
    message: `commit ${at + 1}`,
    parents: at > 0 ? [at] : [],
  }));
  await git(['fast-import', '--quiet'], { input: fastImport('main', commits) });
  // Add a branch whose name is not UTF-8. A URL cannot contain such a name.
  const named = Buffer.from('reset refs/heads/bad\xff\nfrom refs/heads/main~299\n\n', 'latin1');
  await git(['fast-import', '--quiet'], { input: named });
  await git(['push', '--quiet', remote(), 'refs/heads/*:refs/heads/*']);
  const oid = await git(['rev-parse', 'main~250']);
  const at = `#/repository?name=team/app&tab=commits&commit=${oid}`;
  const { page, complaints } = await openPage(t, emulator, { at });
  const row = page.getByLabel('Commits, newest first').getByRole('link', { name: 'commit 50', exact: true });
  await row.waitFor();
  await eventuallyEquals(t, () => row.getAttribute('aria-current'), 'true');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Commits, newest first').evaluate((scroller) => scroller.scrollTo({ top: 0 }));
  await page.getByRole('link', { name: 'commit 297', exact: true }).click();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.waitForFunction(() => document.activeElement?.textContent === 'commit 297');

  await page.getByRole('navigation', { name: 'Parts' }).getByRole('link', { name: 'Refs' }).click();
  await page.getByRole('link', { name: 'bad\ufffd', exact: true }).click();
  await page.getByText('1 commit', { exact: true }).waitFor();
  t.same(complaints, []);
});
