import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin } from './admin-request.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { detail, journalOf, row, startClient } from './request-view.js';

t.setTimeout(120_000);

/** The browser logs each response with an error status; the tests cause such responses on purpose. */
const unexpected = (complaints: readonly string[]) =>
  complaints.filter((complaint) => !/Failed to load resource/.test(complaint));

const bodyOf = async (emulator: Parameters<typeof admin>[0], id: string) =>
  (await admin(emulator, 'GET', `requests/${id}`)).request.body.text as string;

t.test('a read is sent again with a changed query, and compared with the recorded one', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call('/api/v1/repos/file?path=none', { headers: { 'x-own': 'value' } });
  const { page, complaints } = await openPage(t, emulator, { at: '#/requests?id=req-00000002', bypassCSP: true });
  await detail(page).getByRole('button', { name: 'Send again' }).press('Enter');
  const form = detail(page).getByRole('region', { name: 'Send again' });
  await eventuallyMatches(t, () => form.getByLabel('Headers, one per line').inputValue(), /^x-own: value$/m);
  t.notMatch(await form.getByLabel('Headers, one per line').inputValue(), /authorization|host/i);
  t.same(await accessibilityFaults(page), []);
  await form.getByLabel('Path').fill('/a/../b');
  await form.getByRole('button', { name: 'Send' }).press('Enter');
  await form.getByRole('alert').getByText('would send the path /b').waitFor();
  await form.getByLabel('Path').fill('/api/v1/repos/file');
  await form.getByLabel('Query').fill('path=other');
  await page.keyboard.press('Enter');
  await page.waitForURL(/id=req-00000003&compare=req-00000002$/);
  const comparison = detail(page).getByRole('region', { name: 'Comparison with req-00000002' });
  await comparison.getByRole('region', { name: 'Request line' }).getByText('path=other').waitFor();
  await comparison.getByRole('region', { name: 'Request headers' }).getByText('user-agent').waitFor();
  await row(page, /path=other/).waitFor();
  t.match(await admin(emulator, 'GET', 'requests/req-00000003'), {
    status: 404,
    subject: 'ada',
    repository: 'team/app',
    token: { verified: true },
    query: 'path=other',
  });
  t.same(unexpected(complaints), []);
});

t.test('JSON and NDJSON writes are sent again, as recorded or edited, at 390 pixels', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  const json = JSON.stringify({ url: 'http://127.0.0.1:1/hook', events: ['push'] });
  const ndjson = '{"commit":{"target_branch":"main"}}\n{"blob_chunk":{"content_id":"a"}}\n';
  for (const [path, type, body] of [
    ['/api/v1/webhooks', 'application/json', json],
    ['/api/v1/repos/commit-pack', 'application/x-ndjson', ndjson],
  ] as const) {
    await call(path, { method: 'POST', headers: { 'content-type': type }, body });
  }
  const sent = await journalOf(emulator);
  const viewport = { width: 390, height: 800 };
  const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme: 'dark', bypassCSP: true });
  const form = detail(page).getByRole('region', { name: 'Send again' });
  for (const { id, status } of sent.slice(-2)) {
    await page.goto(`${emulator.admin_url}/#/requests?id=${id}`);
    await detail(page).getByRole('button', { name: 'Send again' }).click();
    await form.getByLabel('Body').waitFor();
    t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    t.same(await accessibilityFaults(page), []);
    await form.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(new RegExp(`compare=${id}$`));
    const again = (await journalOf(emulator)).at(-1)!;
    t.equal(again.status, status, 'the same response');
    t.not(again.id, id);
    const type = (one: string) =>
      admin(emulator, 'GET', `requests/${one}`).then(({ request }) =>
        request.headers.find(([name]: [string]) => name === 'content-type'),
      );
    t.equal(await bodyOf(emulator, again.id), await bodyOf(emulator, id));
    t.same(await type(again.id), await type(id));
  }
  await detail(page).getByRole('button', { name: 'Send again' }).click();
  await form.getByLabel('Body').fill('{"commit":{}}');
  await form.getByLabel('Token', { exact: true }).selectOption('none');
  await form.getByRole('button', { name: 'Send' }).click();
  await eventuallyEquals(t, async () => (await journalOf(emulator)).at(-1)!.status, 401);
  t.same(unexpected(complaints), []);
});

t.test('what cannot be sent again is explained, and a lost response is found in the journal', { skip }, async (t) => {
  const { emulator, call, token } = await startClient(t);
  await call('/team/app.git/git-upload-pack', {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`t:${token}`)}`, 'content-type': 'application/x-git-upload-pack-request' },
    body: '0000',
  });
  const long = `${JSON.stringify({ commit: { commit_message: 'x'.repeat(70_000) } })}\n`;
  await call('/api/v1/repos/commit-pack', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: long,
  });
  await call('/api/v1/repo');
  const { page, complaints } = await openPage(t, emulator, { at: '#/requests?id=req-00000002' });
  const form = detail(page).getByRole('region', { name: 'Send again' });
  const open = async (id: string) => {
    await page.goto(`${emulator.admin_url}/#/requests?id=${id}`);
    await detail(page).getByRole('button', { name: 'Send again' }).click();
  };
  await open('req-00000002');
  await form.getByRole('alert').getByText('A fetch cannot be sent again').waitFor();
  await open('req-00000003');
  await form.getByText('Complete it before you send it').waitFor();
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByRole('alert').getByText('Complete it first').waitFor();
  // The fault has no limit, because Chromium itself repeats a request whose connection was reset.
  await admin(emulator, 'POST', 'faults', { spec: 'lost;how=rst', match: { op: 'getRepository' } });
  await open('req-00000004');
  await form.getByRole('button', { name: 'Send' }).click();
  await page.waitForURL(/id=req-0000000[5-9]&compare=req-00000004$/);
  await detail(page).getByText('cut by the emulator').waitFor();
  const { items } = await admin(emulator, 'GET', 'keys');
  for (const { id } of items)
    await admin(emulator, 'DELETE', `keys/${id}?organization=${emulator.org}`).catch(() => {});
  await open('req-00000004');
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByRole('alert').getByText('cannot sign a token for the organization').waitFor();
  t.same(
    unexpected(complaints).filter((complaint) => !/ERR_/.test(complaint)),
    [],
  );
});
