import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin, isOwn } from './admin-request.js';
import { openPage, skip, startEmulator } from './browser.js';
import { confirm } from './confirm.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { mint } from './token.js';

// needs: git

t.setTimeout(120_000);

const HOSTILE = '\u202e<img src=x onerror=alert(1)>';

t.test('a scenario that is started from the page ticks its steps as a client pushes', { skip }, async (t) => {
  const emulator = await startEmulator(t, { clock: '2026-01-01T00:00:00Z' });
  const token = await mint(emulator, { repo: 'app', scopes: ['git:read', 'git:write', 'repo:write'] });
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${emulator.base_url}/api/repos`, { method: 'POST', headers });
  const cwd = await mkdtemp(join(tmpdir(), 'scenario-'));
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd });
  await git('init', '-q', '-b', 'main');
  const push = async () => {
    await git('commit', '-q', '--allow-empty', '-m', 'change');
    return git('push', '-q', `http://t:${token}@${emulator.git_host}/app.git`, 'main').then(
      () => 'pushed',
      () => 'refused',
    );
  };

  const { page, complaints } = await openPage(t, emulator, { at: '#/scenarios' });
  await page.getByText('No scenario is registered').waitFor();
  await page.getByText('Steps of sync-storm').click();
  await page.getByText('retryAfter: 2').first().waitFor();
  await page.getByRole('button', { name: 'Start sync-storm' }).click();
  const scenario = page.getByRole('region', { name: 'Registered' }).getByRole('listitem').first();
  await scenario.getByText('0 of 6 steps').waitFor();
  await scenario.getByText('Its expectations are not met yet').waitFor();
  await eventuallyEquals(t, () => scenario.locator('[aria-current=step]').count(), 1);
  await scenario.locator('[aria-current=step]').getByText('after a request with push main').waitFor();
  for (let step = 1; step <= 6; step += 2) {
    t.equal(await push(), 'pushed');
    await scenario.getByText(`${step} of 6 steps`).waitFor();
    await eventuallyEquals(t, () => scenario.getByText('done:').count(), step);
    t.equal(await push(), 'refused', 'while it syncs');
    await admin(emulator, 'PATCH', 'clock', { advance: 'PT3S' });
    await scenario.getByText(`${step + 1} of 6 steps`).waitFor();
  }
  t.equal(await push(), 'pushed');
  await scenario.getByText('Its expectations are met.').waitFor();
  await scenario.getByRole('button', { name: 'Stop…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  t.equal((await admin(emulator, 'GET', 'scenarios')).items.length, 1, 'nothing ends without an answer');
  await confirm(page, 'Stop… sync-storm');
  await page.getByText('No scenario is registered').waitFor();
  t.same((await admin(emulator, 'GET', 'scenarios')).items, []);
  // Ignore 404 responses, because the page may request a scenario that the test has just removed.
  t.same(
    complaints.filter((complaint) => !complaint.includes('404 (Not Found)')),
    [],
  );
});

t.test('one of your own is read from YAML, refused in a sentence, registered, and started', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { page, complaints } = await openPage(t, emulator, { at: '#/scenarios' });
  const own = page.getByRole('region', { name: 'New scenario' });
  const give = async (text: string, button: string) => {
    await own.getByLabel('Scenario').fill(text);
    await own.getByRole('button', { name: button, exact: true }).click();
  };
  for (const [text, sentence] of [
    ['id: a\nsteps: [', /line 2/],
    ['- a', /a scenario as a JSON object/],
    ['id: a\nsteps:\n  - on: pull from main\n    release: x', /steps\.0\.on/],
    ['id: a\nfaults: [nonsense]', /unknown fault nonsense/],
  ] as const) {
    await give(text, 'Register');
    await own.getByRole('alert').filter({ hasText: sentence }).waitFor();
  }
  const about = JSON.stringify(`About ${HOSTILE}`);
  await give(`id: mine\nabout: ${about}\nfaults:\n  - spec: bad_gateway*1\n    note: ${about}\n`, 'Register');
  const mine = page.getByRole('region', { name: 'Registered' }).getByRole('listitem').filter({ hasText: 'mine' });
  await mine.getByText('X-Emulator-Scenario').waitFor();
  await eventuallyEquals(t, () => page.locator('main img').count(), 0);
  await mine.getByRole('button', { name: 'Start' }).click();
  await mine.getByText('started', { exact: true }).waitFor();
  await eventuallyMatches(
    t,
    () => mine.getByRole('link', { name: 'mine.1' }).getAttribute('href'),
    '#/faults?id=mine.1',
  );
  await give('{"id": "json", "steps": [{"after": "PT1H", "release": "gate"}]}', 'Register and start');
  await page.getByText('0 of 1 steps').waitFor();
  await admin(emulator, 'PATCH', 'clock', { mode: 'frozen' });
  await admin(emulator, 'PATCH', 'clock', { advance: 'PT1H' });
  await page.getByText('1 of 1 steps').waitFor();
  t.same(complaints.filter(isOwn), []);
});

t.test('narrow and wide, light and dark', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { items } = await admin(emulator, 'GET', 'shipped-scenarios');
  for (const { definition } of items.slice(0, 8))
    await admin(emulator, 'POST', 'scenarios', { ...definition, start: true });
  await admin(emulator, 'POST', 'scenarios', { id: 'x'.repeat(64), about: 'y'.repeat(500) });
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1440, 'light'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page } = await openPage(t, emulator, { at: '#/scenarios', viewport, colorScheme, bypassCSP: true });
    await page.getByText('0 of 6 steps').waitFor();
    await page.getByRole('button', { name: 'Registered sync-storm' }).waitFor();
    t.same(await accessibilityFaults(page), [], `${width}`);
    const widest = await page.evaluate(() => document.querySelector('main')!.scrollWidth);
    t.ok(widest <= width, `${widest} fits into ${width}`);
  }
});
