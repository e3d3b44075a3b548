import type { Page, Request } from 'playwright-core';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { everyPlace } from './places.js';
import { sample } from './sample.js';
import { LONG_NAME, startStocked } from './stocked.js';

t.setTimeout(300_000);

/** Number of random places of the web page that a normal test run visits. */
const PLACES = 6;

/**
 * Waits until the page has been idle for three animation frames. The page is idle if it has no pending request and no
 * loading indicator. `pending` has the requests without a response.
 */
async function rested(page: Page, pending: ReadonlySet<Request>): Promise<void> {
  for (let frames = 0; frames < 3; frames++) {
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    if (pending.size > 0 || (await page.locator('.loading').count()) > 0) frames = -1;
  }
}

/** Opens places of the web page one after another. Calls `look` when the content of a place is loaded. */
async function visit(page: Page, places: readonly string[], look: (place: string) => Promise<void>): Promise<void> {
  const pending = new Set<Request>();
  page.on('request', (request) => request.url().includes('/requests/stream') || pending.add(request));
  for (const event of ['requestfinished', 'requestfailed'] as const) {
    page.on(event as 'requestfinished', (request) => pending.delete(request));
  }
  const address = page.url().replace(/#.*/, '');
  for (const place of places) {
    await page.goto(`${address}#/${place}`);
    await page.waitForFunction(
      () => document.querySelector('main > :not(.loading)') && !document.querySelector('.loading'),
    );
    // Wait for requests that the page sends after its first responses, such as the diff of a commit.
    await rested(page, pending);
    await look(place);
  }
}

/**
 * Returns pairs of neighbouring header cells whose texts look like one text, because they are less than 4 pixels apart.
 */
function touchingHeads(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const rectOf = (cell: Element) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return range.getBoundingClientRect();
    };
    return [...document.querySelectorAll('thead:not(.visually-hidden) tr, .request-heads .request-row')].flatMap(
      (row) => {
        const cells = [...row.children].filter(
          (cell) => !cell.querySelector('.visually-hidden') && rectOf(cell).width > 0,
        );
        return cells.flatMap((cell, at) => {
          const next = cells[at + 1];
          if (!next || rectOf(next).top > rectOf(cell).bottom) return [];
          return rectOf(next).left - rectOf(cell).right < 4 ? [`${cell.textContent} ${next.textContent}`] : [];
        });
      },
    );
  });
}

/** Returns a message for each table in which some row has more or fewer cells than the header row. */
function unevenTables(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const countOf = (row: HTMLTableRowElement) => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
    return [...document.querySelectorAll('table')].flatMap((table) => {
      const heads = table.tHead?.rows[0]?.querySelectorAll('th').length ?? 0;
      const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
      const wrong = rows.find((row) => countOf(row) !== heads);
      return wrong ? [`${heads} headings, ${countOf(wrong)} cells: ${wrong.textContent}`] : [];
    });
  });
}

/** Returns boxes that a mouse can scroll but the Tab key cannot reach (WCAG 2.2, success criterion 2.1.1). */
function unreachableBoxes(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const focusable = 'a[href], button:not(:disabled), input, select, textarea, summary, [tabindex="0"]';
    const isScrolling = (box: Element) => {
      const { overflowX, overflowY, visibility } = getComputedStyle(box);
      const isBar = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
      const isWider = isBar(overflowX) && box.scrollWidth > box.clientWidth;
      return visibility === 'visible' && (isWider || (isBar(overflowY) && box.scrollHeight > box.clientHeight));
    };
    return [...document.querySelectorAll('main, main *')]
      .filter((box) => isScrolling(box) && !box.matches(focusable) && !box.querySelector(focusable))
      .map((box) => `${box.tagName} ${box.className}`);
  });
}

t.test('everything that the page shows', { skip }, async (t) => {
  const emulator = await startStocked(t);

  for (const [width, colorScheme] of [
    [320, 'light'],
    [1024, 'dark'],
    [1440, 'light'],
  ] as const) {
    await t.test(`keeps its tables, targets and boxes in order at ${width} pixels`, async (t) => {
      const viewport = { width, height: 800 };
      const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme, bypassCSP: true });
      const tables: string[] = [];
      const places = sample(t, await everyPlace(emulator, 'team/app'), PLACES);
      await visit(page, places, async (place) => {
        tables.push(...(await page.locator('table').allTextContents()));
        t.same(await unevenTables(page), [], `${place}: as many headings as cells`);
        t.same(await touchingHeads(page), [], `${place}: header cells are apart`);
        t.same(await unreachableBoxes(page), [], `${place}: the keyboard reaches what scrolls`);
        if (width === 320) t.same(await accessibilityFaults(page), [], `${place}: axe`);
        t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${place} fits`);
      });
      t.ok(tables.length > (places.length > PLACES ? 10 : -1), `${tables.length} tables`);
      t.same(complaints, []);
    });
  }

  await t.test('shows names whole on a narrow screen', async (t) => {
    const { page } = await openPage(t, emulator, { at: '#/repositories', viewport: { width: 390, height: 800 } });
    const link = page.getByRole('link', { name: LONG_NAME });
    await link.waitFor();
    const isCut = (element: Element) => {
      const { right } = element.getBoundingClientRect();
      const inner = element.querySelector('bdi')!;
      return inner.scrollWidth > inner.clientWidth || right > document.documentElement.clientWidth;
    };
    t.equal(await link.evaluate(isCut), false);
    t.ok(await page.getByRole('columnheader', { name: 'State' }).isVisible());
  });

  await t.test('prints whole lists, and no box hides a part of itself', async (t) => {
    const { page } = await openPage(t, emulator, { viewport: { width: 740, height: 1_000 }, colorScheme: 'dark' });
    await visit(page, sample(t, await everyPlace(emulator, 'team/app'), PLACES), async (place) => {
      const wanted = await page
        .locator('.virtual-list [aria-setsize]')
        .evaluateAll((rows) => Number(rows[0]?.getAttribute('aria-setsize') ?? 0));
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      await eventuallyEquals(t, () => page.locator('.virtual-list li').count(), wanted, `${place}: all rows`);
      const hidden = await page.evaluate(() =>
        [...document.querySelectorAll('#page, #page *')]
          .filter((box) => {
            const { overflowX, overflowY, display } = getComputedStyle(box);
            const isHiding = overflowX !== 'visible' || overflowY !== 'visible';
            const isCut = box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1;
            const isText = box.matches('input, textarea, select, option, progress, svg, .visually-hidden');
            return isHiding && isCut && display !== 'inline' && !isText;
          })
          .map((box) => `${box.tagName} ${box.className}`),
      );
      t.same(hidden, [], `${place}: nothing is cut`);
      const widest = await page.evaluate(() => document.documentElement.scrollWidth);
      t.ok(widest <= 740, `${place}: as wide as a sheet: ${widest}`);
      const [text, back] = await page.evaluate(() => {
        const { color, backgroundColor } = getComputedStyle(document.documentElement);
        return [color, backgroundColor];
      });
      t.same([text, back], ['rgb(27, 33, 41)', 'rgb(255, 255, 255)'], `${place}: dark on light`);
      await page.emulateMedia({ media: null, colorScheme: 'dark' });
    });
    await page.goto(`${emulator.admin_url}/#/requests`);
    await page.getByText('gone-59').first().waitFor();
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
    // Expect more than two pages of paper, because more than 60 rows of two lines do not fit on two pages.
    t.ok((pdf.match(/\/Type \/Page\b/g) ?? []).length > 2, 'a real print has the whole list');
  });

  await t.test('names in the title what is shown', async (t) => {
    const { page } = await openPage(t, emulator);
    const titles = new Map<string, string>();
    const places = await everyPlace(emulator, 'team/app');
    await visit(page, places, async (place) => {
      titles.set(await page.title(), place);
    });
    // All places have different titles, with one exception: a file has the same title with and without blame.
    t.equal(titles.size, places.length - 1, [...titles.keys()].join('\n'));
    for (const [part, pattern] of [
      ['requests?id=req-00000002', /^Request req-00000002: \d+ \w+ \w+ – repohost-emulator$/],
      ['repository?name=team%2Fapp', /^team\/app: Overview – /],
      ['repository?name=team%2Fapp&tab=files&path=a.txt', /^team\/app: a\.txt – /],
      ['control?part=webhooks', /^Control: Webhooks – /],
      ['requests?status=4xx', /^Requests: status=4xx – /],
      ['requests', /^Requests – /],
    ] as const) {
      await page.goto(`${emulator.admin_url}/#/${part}`);
      await page.waitForFunction(([source]) => new RegExp(source!).test(document.title), [pattern.source]);
    }
  });

  await t.test(
    'survives names in its address that every object inherits, and values that it does not know',
    async (t) => {
      const { page, complaints } = await openPage(t, emulator);
      const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
      for (const place of sample(t, await everyPlace(emulator, 'team/app'), PLACES)) {
        const odd = names.map((name) => `${name}=1`).join('&');
        await page.goto(`${emulator.admin_url}/#/${place}${place.includes('?') ? '&' : '?'}${odd}`);
        await page.locator('main > :not(.loading)').first().waitFor();
      }
      for (const name of sample(t, [...names, 'nonsense'], 2)) {
        await page.goto(`${emulator.admin_url}/#/repository?name=team%2Fapp&tab=${name}`);
        await page.getByRole('region', { name: 'Details' }).waitFor();
        await page.goto(`${emulator.admin_url}/#/control?part=${name}`);
        await page.getByRole('heading', { level: 1, name: 'Clock' }).waitFor();
        await page.goto(`${emulator.admin_url}/#/faults?operation=${name}&fault=${name}`);
        await page.getByRole('region', { name: 'New fault' }).waitFor();
        await page.goto(`${emulator.admin_url}/#/${name}?x`);
        await page.waitForURL(/#\/requests$/);
        await page.getByLabel('Filter', { exact: true }).fill(`${name}=x`);
        await page.keyboard.press('Enter');
        await page
          .getByRole('alert')
          .or(page.getByRole('heading', { name: 'No requests match the filter' }))
          .waitFor();
        await page.getByRole('button', { name: 'Remove the filter' }).click();
      }
      await page.goto(`${emulator.admin_url}/#/repository?name=constructor`);
      await page.getByRole('region', { name: 'State' }).getByText('active', { exact: true }).waitFor();
      // Ignore 400 responses. The emulator refuses filters with unknown names, and the browser logs this.
      t.same(
        complaints.filter((complaint) => !complaint.includes('400 (Bad Request)')),
        [],
      );
    },
  );
});
