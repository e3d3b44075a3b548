import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin } from './admin-request.js';
import { openPage, skip } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { detail, row, startClient } from './request-view.js';

t.setTimeout(120_000);

const FILE = '/api/v1/repos/file?path=a.txt';

t.test('a request is compared with its retry and with the last success', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  await call(FILE);
  await call('/api/v1/repos/branches', { headers: { 'x-try': 'success' } });
  await admin(emulator, 'POST', 'faults', { spec: 'rate_limited*1', match: { op: 'listBranches' } });
  await call('/api/v1/repos/branches', { headers: { 'x-try': 'first' } });
  await call('/api/v1/repos/branches', { headers: { 'x-try': 'second', 'x-new': 'n' } });
  const { page, complaints } = await openPage(t, emulator, { bypassCSP: true });
  await row(page, /^429 GET/).click();
  await detail(page).getByRole('button', { name: 'Compare with…' }).press('Enter');
  const choice = detail(page).getByRole('region', { name: 'Compare with' });
  await choice.getByText('the previous equal request').waitFor();
  await eventuallyEquals(
    t,
    async () =>
      (await choice.getByRole('listitem').allTextContents()).map((text) => text.replace(/ 2\d{3}-.*/, '')).join('\n'),
    [
      'req-00000005 200 the retry of this request, the next equal request, the last successful request of the operation',
      'req-00000003 200 the previous equal request',
    ].join('\n'),
  );
  await choice.getByRole('link', { name: 'req-00000005' }).click();
  t.match(page.url(), /id=req-00000004&compare=req-00000005$/);
  const comparison = detail(page).getByRole('region', { name: 'Comparison with req-00000005' });
  const headers = comparison.getByRole('region', { name: 'Request headers' });
  await headers.getByText('x-new').waitFor();
  t.same(await headers.getByRole('listitem').allTextContents(), [
    '≠ different: x-tryreq-00000004: firstreq-00000005: second',
    '≠ different: x-newreq-00000004: absentreq-00000005: n',
  ]);
  await comparison.getByRole('region', { name: 'Result' }).getByText('rate_limited').waitFor();
  await comparison.getByRole('region', { name: 'Response body' }).getByText('"code": "rate_limited"').waitFor();
  await comparison.getByRole('button', { name: 'Show equal rows' }).press('Enter');
  await headers.getByText('authorization').waitFor();
  await comparison.getByRole('region', { name: 'Request line' }).getByText('/api/v1/repos/branches').waitFor();
  t.same(await accessibilityFaults(page), []);

  await page.reload();
  await headers.getByText('x-new').waitFor();
  await row(page, /^200 GET.*branches/)
    .last()
    .click();
  await detail(page).getByRole('heading', { name: '200 GET listBranches' }).waitFor();
  t.match(page.url(), /id=req-00000003&compare=req-00000005$/, 'the comparison stays while other requests are opened');
  await eventuallyMatches(t, () => headers.textContent(), /x-tryreq-00000003: success/);
  await detail(page).getByRole('button', { name: 'Close the comparison' }).press('Enter');
  await headers.waitFor({ state: 'detached' });
  t.match(page.url(), /id=req-00000003$/);
  await detail(page).getByRole('button', { name: 'Compare with…' }).click();
  await choice.getByLabel('Id of another request').fill('req-99999999');
  t.same(complaints, []);
  await page.keyboard.press('Enter');
  await detail(page).getByRole('alert').getByText('The journal has no request with the id').waitFor();
  await detail(page).getByRole('button', { name: 'Close the request' }).click();
  t.match(page.url(), /#\/requests$/);
});

t.test('at 390 pixels the values of a comparison are one below the other', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  const body = (name: string) => JSON.stringify({ name, long: 'word '.repeat(200) });
  const post = (name: string) =>
    call('/api/v1/webhooks', { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(name) });
  await post('one');
  await post('two');
  const { page, complaints } = await openPage(t, emulator, {
    at: '#/requests?id=req-00000003&compare=req-00000002',
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark',
    bypassCSP: true,
  });
  const part = detail(page).getByRole('region', { name: 'Request body' });
  const line = part.getByRole('listitem').filter({ hasText: '"name": "one"' });
  await line.waitFor();
  const [first, second] = await line.locator('.side').evaluateAll((sides) =>
    sides.map((side) => {
      const { left, top, bottom } = side.getBoundingClientRect();
      return { left, top, bottom, text: side.textContent };
    }),
  );
  t.match(first!.text, /^req-00000002: .*"one"/, 'the earlier request is first');
  t.match(second!.text, /^req-00000003: .*"two"/);
  t.equal(first!.left, second!.left);
  t.ok(second!.top >= first!.bottom);
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  t.same(await accessibilityFaults(page), []);
  t.same(complaints, []);
});
