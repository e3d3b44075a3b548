import t from 'tap';
import { openPage, skip, startProcess } from './browser.js';
import { everyPlace } from './places.js';
import { CLOCK, stock } from './stocked.js';

t.setTimeout(180_000);

const SENTENCE = 'The emulator does not respond';

t.test(
  'after the emulator stops, no part of the page waits forever, and the clock shows the disconnect',
  { skip },
  async (t) => {
    const emulator = await stock(t, await startProcess(t, '--clock', CLOCK));
    // Skip the form for a new token, because it loads nothing. It shows an error only after the user submits it.
    const places = (await everyPlace(emulator, 'team/app')).filter((place) => place !== 'control?part=token');
    const { page: fresh } = await openPage(t, emulator);
    const { page: used } = await openPage(t, emulator);
    const { page: clock } = await openPage(t, emulator, { at: '#/control?part=clock' });
    for (const place of places) {
      await used.goto(`${emulator.admin_url}/#/${place}`);
      await used.waitForFunction(() => document.querySelector('main > :not(.loading)'));
    }
    await clock.locator('.clock-face').waitFor();
    t.equal(await clock.getByText(SENTENCE).count(), 0);
    process.kill(emulator.pid, 'SIGKILL');

    await clock.getByRole('alert').getByText(SENTENCE).waitFor();
    await clock.getByText('the last time received from the emulator').waitFor();
    await clock.locator('.clock-face').waitFor();
    for (const [name, page] of [
      ['code that was loaded before', used],
      ['code that was not', fresh],
    ] as const) {
      for (const place of places) {
        await page.goto(`${emulator.admin_url}/#/${place}`);
        const sentence = page.getByText('the emulator does not respond').first();
        await t.resolves(sentence.waitFor(), `${place}, ${name}: it says so`);
        await t.resolves(
          page.locator('.loading').first().waitFor({ state: 'detached' }),
          `${place}, ${name}: it stops`,
        );
      }
      await page.goto(`${emulator.admin_url}/#/requests?status=5xx`);
      await page.getByRole('alert').getByText(SENTENCE).waitFor();
    }
  },
);
