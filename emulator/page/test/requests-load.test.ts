import t from 'tap';
import { request } from 'undici';
import { openPage, skip, startProcess } from './browser.js';
import { eventuallyEquals } from './eventually.js';
import { mint } from './token.js';

t.setTimeout(120_000);

/** Requests that the test sends per second. It sends a tenth of them every tenth of a second. */
const RATE = 200;
const LARGE = 'x'.repeat(8_000);

t.test('200 requests a second are shown without a gap, and memory does not grow with them', { skip }, async (t) => {
  const emulator = await startProcess(t);
  const token = await mint(emulator, { repo: 'team/app', sub: 'load' });
  const { page, complaints } = await openPage(t, emulator);
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor();
  let sent = 0;
  const send = async () => {
    const target = `${emulator.base_url}/api/v1/repos/file?path=f${sent++}`;
    const { body } = await request(target, { headers: { authorization: `Bearer ${token}`, 'x-large': LARGE } });
    await body.dump();
  };
  const stream = async (seconds: number) => {
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      const next = new Promise((resolve) => setTimeout(resolve, 100));
      await Promise.all([...Array.from({ length: RATE / 10 }, send), next]);
    }
    const expected = `${sent.toLocaleString('en')} requests`;
    await page.getByText(expected, { exact: true }).waitFor();
  };
  const devtools = await page.context().newCDPSession(page);
  const used = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    return (await devtools.send('Runtime.getHeapUsage')).usedSize;
  };

  await stream(1);
  const before = await used();
  await stream(3);
  const after = await used();
  // A row must need less memory than its request. Each request has 8,000 characters in a header, which the row does not
  // show.
  const shown = sent - RATE;
  t.ok(after - before < shown * 2_500, `${Math.round((after - before) / shown)} bytes for each of ${shown} rows`);

  const list = page.getByRole('region', { name: 'Requests, newest first' });
  t.ok((await list.getByRole('listitem').count()) < 80, 'only rows in view are there');
  await list.getByText(`path=f${sent - 1}`, { exact: false }).waitFor();
  const journal = (await (await fetch(`${emulator.admin_url}/requests?format=ndjson`)).text()).trim().split('\n');
  t.equal(journal.length, sent);
  await eventuallyEquals(t, () => page.getByText(/not received|no longer in the journal/).count(), 0);

  // Scroll through the list, which must contain all of the newest 200 requests.
  const last = list.getByRole('link').first();
  await last.focus();
  const seen = new Set<string>();
  const numbers = () => list.getByRole('link').evaluateAll((links) => links.map(({ textContent }) => textContent!));
  for (let pages = 0; seen.size < 200 && pages < 60; pages++) {
    for (const text of await numbers()) seen.add(/path=f(\d+)/.exec(text)![1]!);
    await page.keyboard.press('PageDown');
  }
  const newest = Array.from({ length: 200 }, (_, at) => `${sent - 1 - at}`);
  t.same(
    newest.filter((number) => !seen.has(number)),
    [],
  );
  t.same(complaints, []);
});

t.test('a full journal is shown from its newest request backwards, without bodies', { skip }, async (t) => {
  const emulator = await startProcess(t, '--max-journal', '2300');
  let sent = 0;
  const send = async () => {
    const { body } = await request(`${emulator.base_url}/nothing?number=${sent++}.`);
    await body.dump();
  };
  for (let at = 0; at < 26; at++) await Promise.all(Array.from({ length: 100 }, send));
  const { page, complaints } = await openPage(t, emulator, { at: '#/faults' });
  const asked: URL[] = [];
  page.on('request', (question) => {
    const url = new URL(question.url());
    if (url.pathname.endsWith('/requests')) asked.push(url);
  });
  // Delay the responses with older requests until a newer request is shown. Both updates of the list then overlap.
  let goOn = () => {};
  const isShown = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route(/requests\?.*cursor=/, async (route) => {
    await isShown;
    await route.continue();
  });
  await page.goto(`${emulator.admin_url}/#/requests`);
  const list = page.getByRole('region', { name: 'Requests, newest first' });
  const links = list.getByRole('link');
  await links.first().waitFor();
  t.match(await links.first().textContent(), /number=25\d\d\./);
  await page.getByText(/^500 requests · older requests not shown · 300 no longer in the journal/).waitFor();
  await send();
  await list.getByText('number=2600.').waitFor();
  goOn();
  // Expect 300 dropped requests, not 301. The page shows the number that it read before the last request.
  await page.getByText(/^2,300 requests · 300 no longer in the journal/).waitFor();
  t.equal(asked.length, 5, 'each part is asked for once');
  t.ok(asked.every(({ searchParams }) => searchParams.get('bodies') === 'false'));

  await links.first().focus();
  await page.keyboard.press('End');
  await page.waitForFunction(() => /number=3\d\d\./.test(document.activeElement?.textContent ?? ''));
  t.same(complaints, []);
});
