import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin } from './admin-request.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { startClient } from './request-view.js';

t.setTimeout(120_000);

const HOSTILE = '/\u202e<img src=x onerror=alert(1)>';

const SCENARIO = {
  id: 'story',
  faults: [{ id: 'busy', spec: 'rate_limited*2;retry-after=1', match: { op: 'listBranches' }, expect: { fired: 2 } }],
  expect: {
    requests: [
      { match: { operation: 'listBranches', status: 429 }, atLeast: 2, order: 1 },
      { match: { operation: 'listBranches', status: 200 }, order: 2 },
      { match: { path: HOSTILE }, never: true },
    ],
    client: ['expected-head'],
  },
};

t.test('expectations are words with marks, beside the latest requests', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repos/file?path=before-the-start');
  await admin(emulator, 'POST', 'scenarios', SCENARIO);

  await t.test('they change as a client sends requests', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: '#/scenarios' });
    const story = page.getByRole('region', { name: 'Registered' }).getByRole('listitem').first();
    await story.getByRole('button', { name: 'Start' }).click();
    const expected = story.locator('.expectations li');
    const latest = story.getByRole('region', { name: 'Latest requests since the start of story' });
    await latest.getByText('No requests since the start.').waitFor();
    await eventuallyMatches(t, async () => (await expected.allTextContents()).join('\n'), /not applicable yet/);
    const texts = async () => (await expected.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '));
    t.match(
      (await texts())[0],
      /^✕not met: at least 2 requests of listBranches with status 429, at place 1 of the seq/,
    );
    t.match((await texts())[0], /\(found 0\)$/);
    t.match(
      (await texts())[1],
      /^✕not met: a request of listBranches with status 200, at place 2 of the sequence \(found 0\)Place 1 of the sequence comes first\.$/,
    );
    t.equal((await texts())[2], '✓met: no requests to /⟦U+202E⟧<img src=x onerror=alert(1)> (found 0)');
    t.match((await texts())[3], /^✕not met: the fault busy fires exactly 2 times \(fired 0 times\)$/);
    t.match((await texts())[4], /^✓met: the client keeps the rule expected-head \(.*\) \(not applicable yet\)$/);

    await call('/api/v1/repos/branches');
    await eventuallyMatches(t, async () => (await texts())[3] ?? '', /\(fired once\)/);
    await call('/api/v1/repos/branches');
    await eventuallyMatches(t, async () => (await texts())[0] ?? '', /^✓met: .*\(found 2\)$/);
    await call('/api/v1/repos/branches');
    await story.getByText('Its expectations are met.').waitFor();
    await eventuallyEquals(t, () => story.locator('.expectations .failed').count(), 0);
    await latest.getByRole('link', { name: 'GET /api/v1/repos/branches' }).nth(2).waitFor();
    for (let n = 0; n < 12; n++) await call(`/api/v1/repos/file?path=${n}`);
    await latest.getByRole('link', { name: 'path=11' }).waitFor();
    await eventuallyEquals(t, () => latest.getByRole('link').count(), 11, 'ten requests and the link to all');
    t.equal(await page.getByText('before-the-start').count(), 0);
    t.equal(await page.locator('main img').count(), 0);

    await latest.getByRole('link', { name: 'path=11' }).click();
    await page.waitForURL(/#\/requests\?id=req-\d+$/);
    await page.getByRole('link', { name: 'story', exact: true }).click();
    await page.waitForURL(/#\/scenarios\?id=story$/);
    await page.locator('.scenario[aria-current]', { hasText: 'story' }).waitFor();
    await latest.getByRole('link', { name: 'All since the start' }).click();
    await page.getByRole('link', { name: /path=11/ }).waitFor();
    await page.getByText(/15 /).first().waitFor();
    t.same(complaints, []);
  });

  await t.test('faults have their expectation too', async (t) => {
    const fault = {
      id: 'rare',
      spec: 'internal_error',
      match: { op: 'listTags' },
      expect: { fired: { min: 1, max: 2 } },
    };
    await admin(emulator, 'POST', 'faults', fault);
    const { page, complaints } = await openPage(t, emulator, { at: '#/faults' });
    const item = (id: string) => page.getByRole('listitem').filter({ hasText: id });
    await item('busy').getByText('the fault fires exactly 2 times').waitFor();
    await item('busy').getByText('(so far 2 times)').waitFor();
    await item('busy').locator('.result-mark.passed').waitFor();
    await item('rare').getByText('the fault fires 1 to 2 times').waitFor();
    await item('rare').locator('.result-mark.failed').waitFor();
    await call('/api/v1/repos/tags');
    await item('rare').getByText('(so far once)').waitFor();
    await item('rare').locator('.result-mark.passed').waitFor();
    t.same(complaints, []);
  });

  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    await t.test(`axe finds nothing serious at ${width} pixels`, async (t) => {
      const viewport = { width, height: 900 };
      const { page } = await openPage(t, emulator, { at: '#/scenarios', viewport, colorScheme, bypassCSP: true });
      await page.locator('.latest-requests li').nth(9).waitFor();
      t.same(await accessibilityFaults(page), []);
      t.ok((await page.evaluate(() => document.querySelector('main')!.scrollWidth)) <= width);
      await page.goto(`${emulator.admin_url}/#/faults`);
      await page.getByText('the fault fires exactly 2 times').waitFor();
      t.same(await accessibilityFaults(page), []);
    });
  }
});
