import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin, isOwn } from './admin-request.js';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { confirm } from './confirm.js';
import { eventuallyEquals } from './eventually.js';
import { mint } from './token.js';

// needs: git

t.setTimeout(120_000);

const HOSTILE = '\u202e<img src=x onerror=alert(1)>';

/** Creates the repository `app` and a token for it. Returns the token, and a function that sends requests with it. */
async function startClient(emulator: Started, claims: object = {}) {
  const scopes = ['git:read', 'git:write', 'repo:write', 'org:read'];
  const token = await mint(emulator, { repo: 'app', scopes, ...claims });
  const ask = (path: string, { method = 'GET', ...headers }: Record<string, string> = {}) =>
    fetch(emulator.base_url + path, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
  await ask('/api/repos', { method: 'POST' });
  return { token, ask };
}

t.test('a 429 is armed by the form, met by clients, counted, met once more, and removed', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { token, ask } = await startClient(emulator);
  const { page, complaints } = await openPage(t, emulator, { at: '#/faults?operation=getRepository&repository=app' });
  await page.getByText('No armed faults').waitFor();
  await eventuallyEquals(t, () => page.getByLabel('Fault', { exact: true }).inputValue(), 'rate_limited');
  await page.getByLabel('retry-after').fill('7');
  await page.getByLabel('Subject').fill('emu*');
  await page.getByRole('button', { name: 'Add the fault' }).click();
  const fault = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'fault-1' }) });
  await fault.getByText('rate_limited*1;retry-after=7;match.op=getRepository;match.repo=app;match.sub=emu*').waitFor();
  const counters = fault.getByLabel('Counters of fault-1');
  await counters.filter({ hasText: 'fired0matched0remaining1' }).waitFor();
  const met = await ask('/api/v1/repo');
  t.same([met.status, met.headers.get('retry-after')], [429, '7']);
  t.equal((await ask('/api/v1/repo')).status, 200);
  await counters.filter({ hasText: 'fired1matched2remaining0not fired: number of times reached1' }).waitFor();
  t.match(
    await fault.getByRole('link', { name: 'Affected requests' }).getAttribute('href'),
    '#/requests?fault=fault-1',
  );
  await fault.getByRole('button', { name: 'Fire once more' }).click();
  await counters.filter({ hasText: 'remaining1' }).waitFor();
  t.equal((await ask('/api/v1/repo')).status, 429);
  await fault.getByRole('button', { name: 'Edit…' }).click();
  await page.getByRole('dialog').getByLabel('Times').fill('x');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'when.times' }).waitFor();
  await page.getByRole('dialog').getByLabel('Times').fill('');
  await page.getByRole('dialog').getByLabel('Note').fill(HOSTILE);
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await counters.filter({ hasText: 'remainingunlimited' }).waitFor();
  await eventuallyEquals(t, () => fault.locator('img').count(), 0, 'a note is text');
  await fault.getByRole('button', { name: 'Disable' }).click();
  await fault.getByText('disabled', { exact: true }).waitFor();
  t.equal((await ask('/api/v1/repo')).status, 200);
  await fault.getByRole('button', { name: 'Enable' }).click();
  await fault.getByText('disabled', { exact: true }).waitFor({ state: 'detached' });
  t.equal((await ask('/api/v1/repo')).status, 429);
  await fault.getByRole('button', { name: 'Remove…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  t.equal((await admin(emulator, 'GET', 'faults')).items.length, 1, 'nothing is removed without an answer');
  await confirm(page, 'Remove… fault-1');
  await fault.waitFor({ state: 'detached' });
  t.equal((await ask('/api/v1/repo')).status, 200);

  // Add this fault to Git fetches too. The first call must get 429, and the second must succeed.
  await page.goto(`${emulator.admin_url}/#/faults?operation=gitUploadPack`);
  await page.getByLabel('retry-after').fill('1');
  await page.getByRole('button', { name: 'Add the fault' }).click();
  await page.getByRole('heading', { name: 'fault-2' }).waitFor();
  const url = `http://t:${token}@${emulator.git_host}/app.git`;
  const git = () =>
    promisify(execFile)('git', ['ls-remote', url]).then(
      () => '',
      ({ stderr }) => String(stderr),
    );
  t.match(await git(), '429');
  t.equal(await git(), '');
  await page.getByLabel('Counters of fault-2').filter({ hasText: 'fired1' }).waitFor();
  t.same(complaints.filter(isOwn), []);
});

t.test(
  'a fault that meets each second request of a client is made, shown in every form, and refused where it errs',
  { skip },
  async (t) => {
    const emulator = await startEmulator(t);
    const { ask } = await startClient(emulator);
    const { page, complaints } = await openPage(t, emulator, { at: '#/faults?operation=getRepository' });
    const form = page.getByRole('region', { name: 'New fault' });
    await form.getByLabel('Times').fill('');
    await form.getByText('More settings').click();
    await form.getByLabel('Every').fill('two');
    await form.getByRole('alert').filter({ hasText: 'when.every' }).waitFor();
    await form.getByLabel('Every').fill('2');
    await form.getByLabel('Count separately for each').fill('token, repo');
    await form.getByLabel('Remove after').fill('PT1H');
    await form.getByLabel('Note').fill(HOSTILE);
    await form.getByLabel('Expected firings').fill('2');
    await form.getByRole('alert').waitFor({ state: 'detached' });
    const typescript = page.getByRole('region', { name: 'TypeScript', exact: true });
    await typescript.getByText(';when.every=2;when.by=token%2Crepo;expect.fired=2;ttl=PT1H').waitFor();
    await form.getByRole('button', { name: 'Add the fault' }).click();
    await page.getByRole('heading', { name: 'fault-1' }).waitFor();
    const statuses: number[] = [];
    for (let at = 0; at < 4; at++) statuses.push((await ask('/api/v1/repo')).status);
    t.same(statuses.sort(), [200, 200, 429, 429]);
    const [{ when, ttl, note, expect }] = (await admin(emulator, 'GET', 'faults')).items;
    t.same([when, ttl, note, expect], [{ every: 2, by: ['token', 'repo'] }, 'PT1H', HOSTILE, { fired: 2 }]);
    t.same(complaints.filter(isOwn), []);
  },
);

t.test('for the operations that are chosen the form offers what can happen there', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page } = await openPage(t, emulator, { at: '#/faults' });
  const form = page.getByRole('region', { name: 'New fault' });
  const optionsOf = async (label: string) => {
    const options = page.getByLabel(label, { exact: true }).locator('option');
    return options.evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value));
  };
  const choose = async (id: string) => {
    for (const other of await form.getByRole('button', { name: /^Remove / }).all()) await other.click();
    await page.getByLabel('Operation', { exact: true }).selectOption(id);
    await form.getByRole('button', { name: `Remove ${id}` }).waitFor();
  };
  for (const [id, kind, stages] of [
    ['readFile', 'rate_limited', ['', 'headers', 'auth', 'before', 'after', 'response.head']],
    ['gitUploadPack', 'cut', ['', 'headers', 'body', 'response.head', 'response.body', 'git.advertise', 'git.pack']],
    ['commitPack', 'lost', ['', 'after']],
  ] as const) {
    await choose(id);
    await page.getByLabel('Fault', { exact: true }).selectOption(kind);
    t.same(await optionsOf('Stage'), stages, `${kind} of ${id}`);
  }
  t.same(await optionsOf('Parameter'), ['', 'how', 'status'], 'keys that exclude each other');
  const names = await optionsOf('Fault');
  t.same(
    ['sideband', 'bad_gateway', 'rate_limited', 'conflict'].map((name) => names.includes(name)),
    [false, false, true, true],
  );
  await page.getByLabel('Include codes that are not specified for the operation').check();
  t.ok((await optionsOf('Fault')).includes('bad_gateway'));
  await choose('gitUploadPack');
  await page.getByLabel('Fault', { exact: true }).selectOption('cut');
  await page.getByLabel('Parameter', { exact: true }).selectOption('objects');
  t.same(await optionsOf('Stage'), ['', 'git.pack'], 'objects are those of a pack');
});

t.test('a wrong value is refused in the words of the emulator, and forms follow what is typed', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/faults?operation=getRepository' });
  const alert = page.getByRole('region', { name: 'New fault' }).getByRole('alert');
  await page.getByLabel('retry-after').fill('soon');
  await alert
    .filter({ hasText: 'the key retry-after of the fault rate_limited must be seconds, http-date, omit or garbage.' })
    .waitFor();
  await page.getByLabel('retry-after').fill('omit');
  await alert.waitFor({ state: 'detached' });
  const form = (name: string) => page.getByRole('region', { name, exact: true });
  await form('Header').getByText('X-Emulator-Fault: rate_limited*1;retry-after=omit').waitFor();
  await page.getByLabel('Times').fill('3');
  await form('Command line')
    .getByText("npx emulator fault add 'rate_limited*3;retry-after=omit;match.op=getRepository'")
    .waitFor();
  await page.getByLabel('Stage').selectOption('headers');
  await form('Token claim').getByText('A request cannot carry a fault at the stage headers').waitFor();
  await form('Header').getByText('cannot carry').waitFor();
  await page.getByLabel('Stage').selectOption('');
  await page.getByLabel('Add a condition').selectOption('Header');
  await page.getByLabel('Header name').fill('X-Client');
  await page.getByRole('textbox', { name: 'Header', exact: true }).fill(`${HOSTILE}'"`);
  await page.getByLabel('Stage').getByText('default: before, or later if a condition is known only later').waitFor({
    state: 'attached',
  });
  await form('Scenario step').getByText('onerror').waitFor();
  await form('TypeScript')
    .getByText(';match.op=getRepository;match.header.X-Client=%E2%80%AE%3Cimg%20src%3D')
    .waitFor();
  await eventuallyEquals(t, () => page.locator('main img').count(), 0);
  await page.getByLabel('Times').fill('0');
  await alert.filter({ hasText: 'would never fire' }).waitFor();
  t.same((await admin(emulator, 'GET', 'faults')).items, [], 'nothing was added by typing');
  t.same(complaints.filter(isOwn), []);
});

t.test(
  'what requests ask for shows as well; what a latch holds goes on by a click; all are disarmed',
  { skip },
  async (t) => {
    const emulator = await startEmulator(t);
    const { ask } = await startClient(emulator, { sub: HOSTILE });
    await admin(emulator, 'POST', 'faults', {
      spec: 'hold*1;latch=gate.1',
      match: { op: 'listBranches', token: { sub: HOSTILE } },
    });
    const { page, complaints } = await openPage(t, emulator, { at: '#/faults?id=fault-1' });
    const release = page.getByRole('button', { name: /^Release gate\.1/ });
    await release.waitFor();
    t.ok(await release.isDisabled(), 'nothing waits');
    await eventuallyEquals(
      t,
      () => page.getByRole('listitem').filter({ has: release }).getAttribute('aria-current'),
      'true',
    );
    const waiting = ask('/api/v1/repos/branches');
    await page.getByRole('button', { name: 'Release gate.1 (1 waiting)' }).click();
    t.equal((await waiting).status, 200);
    t.equal((await ask('/api/v1/repo', { 'x-emulator-fault': 'bad_gateway*1' })).status, 502);
    const asked = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'bad_gateway' }) });
    await asked.getByText('sent by client').waitFor();
    await eventuallyEquals(t, () => asked.getByRole('button', { name: 'Edit…' }).count(), 0);
    await asked.getByRole('button', { name: 'Copy as…' }).click();
    await page.getByRole('dialog').getByText("emulator.fault('bad_gateway*1');").first().waitFor();
    await page.keyboard.press('Escape');
    await eventuallyEquals(t, () => page.locator('main img').count(), 0, 'a subject is text');
    await confirm(page, 'Remove all…');
    await page.getByText('No armed faults').waitFor();
    t.same((await admin(emulator, 'GET', 'faults')).items, []);
    t.same(complaints, []);
  },
);

t.test('by keyboard, narrow and wide, light and dark', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  await admin(emulator, 'POST', 'faults', {
    spec: `sideband;text=${'x'.repeat(300)}`,
    match: { repo: 'y'.repeat(300) },
  });
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1440, 'light'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page } = await openPage(t, emulator, {
      at: '#/faults?operation=gitUploadPack,readFile',
      viewport,
      colorScheme,
      bypassCSP: true,
    });
    await page.getByRole('region', { name: 'Admin API' }).waitFor();
    await page.getByLabel('Add a condition').selectOption('Header');
    t.same(await accessibilityFaults(page), [], `${width}`);
    const widest = await page.evaluate(() =>
      Math.max(...['html', 'main'].map((one) => document.querySelector(one)!.scrollWidth)),
    );
    t.ok(widest <= width, `${widest} fits into ${width}`);
    await page.getByLabel('Times').focus();
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: width === 360 ? 'fault-2' : 'fault-3' }).waitFor();
  }
});
