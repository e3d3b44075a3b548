import t from 'tap';
import { openPage, skip } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { startStocked } from './stocked.js';

t.setTimeout(120_000);

t.test('without clipboard access, the text is selected for copying by keyboard', { skip }, async (t) => {
  const emulator = await startStocked(t);
  for (const clipboard of ['none', 'one that refuses']) {
    const { page, complaints } = await openPage(t, emulator);
    await page.addInitScript((isThere) => {
      const refuse = { writeText: () => Promise.reject(new Error('not allowed')) };
      Object.defineProperty(navigator, 'clipboard', { value: isThere ? refuse : undefined });
    }, clipboard !== 'none');
    await page.goto(`${emulator.admin_url}/?again#/repository?name=team%2Fapp`);
    const selected = () => page.evaluate(() => `${getSelection()}`);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByRole('button', { name: 'Selected: press Ctrl+C' }).waitFor();
    t.equal(await selected(), await page.locator('.copy code').first().textContent(), clipboard);

    // The page shows only the first digits of a commit id. The dialog of the copy button must show all of it.
    await page.goto(`${emulator.admin_url}/#/repository?name=team%2Fapp&tab=commits`);
    await page.getByRole('link', { name: 'Change 39' }).click();
    await page.getByRole('button', { name: 'Copy id' }).click();
    const dialog = page.getByRole('dialog', { name: 'Selected: press Ctrl+C' });
    const area = dialog.getByLabel('Text to copy');
    await eventuallyEquals(
      t,
      () => area.evaluate((one: HTMLTextAreaElement) => one.value.slice(one.selectionStart, one.selectionEnd)),
      new URL(page.url().replace('#/', '')).searchParams.get('commit'),
    );
    t.same(complaints, []);
  }
});
