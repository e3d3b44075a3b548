import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip, startEmulator, startProcess } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { sample } from './sample.js';

t.setTimeout(120_000);

const SECTIONS = ['Requests', 'Repositories', 'Faults', 'Scenarios', 'Verify', 'Control'];

t.test('the page opens, links to its sections, and sends no request to another host', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator);
  await page.waitForURL(/#\/requests$/);
  for (const name of SECTIONS) {
    const link = page.getByRole('navigation').getByRole('link', { name, exact: true });
    await link.click();
    await page.waitForFunction((title) => document.title.startsWith(title), name);
    await eventuallyEquals(t, () => link.getAttribute('aria-current'), 'page');
  }
  await page.goBack();
  t.match(page.url(), /#\/verify$/, 'the browser goes back by sections');
  t.same(complaints, []);
});

t.test('in light and dark, wide and narrow, axe finds nothing serious', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1440, 'light'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page } = await openPage(t, emulator, { colorScheme, viewport, bypassCSP: true });
    for (const name of sample(t, SECTIONS, 2)) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.waitForFunction((title) => document.title.startsWith(title), name);
      await page.locator('main > :not(.loading)').first().waitFor();
      t.same(await accessibilityFaults(page), [], `${name}, ${colorScheme}, ${width}`);
      const widest = await page.evaluate(() => document.documentElement.scrollWidth);
      t.ok(widest <= width, `${name} fits into ${width}: ${widest}`);
    }
  }
});

t.test('the page asks for an admin token, keeps it in memory, and forgets it on reload', { skip }, async (t) => {
  const emulator = await startProcess(t, '--admin-token', 'a/b+c==');
  const { page } = await openPage(t, emulator);
  await page.getByLabel('Admin token').fill('wrong');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByRole('alert').getByText('not the admin token of this emulator').waitFor();
  for (const [wrong, sentence] of [
    ['geheimer-Schlüssel', 'this one has "ü"'],
    ['пароль', 'this one has "п"'],
    ['two words', 'this one has " "'],
    ['a\u200bb', 'this one has "⟦U+200B⟧"'],
    ['\u{1f511}', 'this one has "\u{1f511}"'],
  ] as const) {
    await page.getByLabel('Admin token').fill(wrong);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').getByText(sentence).waitFor();
  }
  await page.waitForFunction(() => document.title.startsWith('Admin token'));
  await page.getByLabel('Admin token').fill(' a/b+c== ');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Admin token').waitFor({ state: 'detached' });
  t.same(await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]), [0, 0, '']);
  t.notMatch(page.url(), 'a/b');
  await page.reload();
  await page.getByLabel('Admin token').waitFor();
});

t.test('the first view transfers at most 150 kB', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/nothing' });
  const files: [name: string, bytes: number][] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith('/_emulator/page/') && pathname !== '/_emulator/') return;
    files.push([pathname, Number(response.headers()['content-length'])]);
    t.equal(response.headers()['content-encoding'], 'gzip', pathname);
    t.match(response.headers()['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/, pathname);
  });
  await page.goto(`${emulator.admin_url}/?again#/requests`);
  await page.getByText('No requests yet').waitFor();
  t.ok(files.length >= 4 && files.every(([, bytes]) => bytes > 0), JSON.stringify(files));
  const sum = files.reduce((before, [, bytes]) => before + bytes, 0);
  t.ok(sum <= 150_000, `${sum} bytes`);
  t.same(complaints, []);
});
