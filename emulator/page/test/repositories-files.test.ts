import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip, startEmulator } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { fastImport, makeRepository } from './git.js';

t.setTimeout(120_000);

const SCRIPT = '<script>alert(1)</script>';

t.test('each file has the commit that last changed it', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { git, remote } = await makeRepository(t, emulator, 'team/app');
  const commits = [
    { message: 'Begin', files: { 'a.txt': '1\n', 'src/one.js': '1\n', 'src/two.js': '2\n', '"b\\377d"': 'x\n' } },
    { message: `${SCRIPT} \u202e${'long '.repeat(100)}\n\nBody`, files: { 'src/two.js': '3\n' } },
    { message: '', files: { 'a.txt': '2\n' } },
  ];
  await git(['fast-import', '--quiet'], { input: fastImport('main', commits) });
  await git(['push', '--quiet', remote(), 'main']);
  const at = '#/repository?name=team/app&tab=files';

  await t.test('the names are shown before the commits are known', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: '#/repositories' });
    let release: () => void = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/last-commits?*', async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.goto(`${emulator.admin_url}/${at}`);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(name) });
    await row('a.txt').getByText('…').waitFor();
    release();
    await row('a.txt').getByRole('link', { name: 'no message' }).waitFor();
    await row('src').getByText(`${SCRIPT} ⟦U+202E⟧`).waitFor();
    await row('b\ufffdd').getByRole('link', { name: 'Begin' }).waitFor();
    const date = (await git(['log', '-1', '--format=%cI', 'main~2'])).slice(0, 10);
    await row('b\ufffdd').getByText(date, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'src' }).click();
    await row('two.js').getByText(SCRIPT).waitFor();
    await row('one.js').getByRole('link', { name: 'Begin' }).click();
    await page.getByRole('region', { name: `Commit ${await git(['rev-parse', '--short=8', 'main~2'])}` }).waitFor();
    t.equal(await page.locator('main script').count(), 0);
    t.same(complaints, []);
  });

  await t.test('without the commits, the names and the error are shown', async (t) => {
    const { page } = await openPage(t, emulator, { at: '#/repositories' });
    const detail = 'The work limit is exceeded.';
    await page.route('**/last-commits?*', (route) => route.fulfill({ status: 504, json: { detail } }));
    await page.goto(`${emulator.admin_url}/${at}`);
    await page.getByRole('alert').getByText(detail).waitFor();
    await page.getByRole('link', { name: 'a.txt' }).waitFor();
    await eventuallyEquals(t, () => page.getByText('…', { exact: true }).count(), 0);
  });

  for (const [width, colorScheme] of [
    [1440, 'dark'],
    [390, 'light'],
  ] as const) {
    await t.test(`axe finds nothing serious at ${width} pixels`, async (t) => {
      const viewport = { width, height: 800 };
      const { page } = await openPage(t, emulator, { at, viewport, colorScheme, bypassCSP: true });
      await page
        .getByRole('row', { name: /a\.txt/ })
        .locator('time')
        .waitFor();
      t.equal(await page.getByRole('link', { name: 'Begin' }).isVisible(), width > 600);
      t.same(await accessibilityFaults(page), []);
      await eventuallyEquals(t, () => page.evaluate(() => document.documentElement.scrollWidth), width);
    });
  }
});
