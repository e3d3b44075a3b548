import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { ENVIRONMENT } from './command.js';
import { everyPlace } from './places.js';
import { mint } from './token.js';

// needs: git

t.setTimeout(120_000);

/** Environment of Git with fixed dates, so that each test run creates a commit with the same id. */
const env = {
  ...ENVIRONMENT,
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/**
 * Visits every place of the web page and opens all details. Clicks on nothing that changes the emulator. Returns the
 * number of places.
 */
async function lookAtEverything(page: Page, emulator: Started): Promise<number> {
  const { admin_url } = emulator;
  const places = [...(await everyPlace(emulator, 'team/app')), 'requests'];
  for (const place of places) {
    await page.goto(`${admin_url}/#/${place}`);
    await page.locator('main > :not(.loading)').first().waitFor({ state: 'attached' });
    // Open collapsed details, because some load their content only then.
    await page.locator('main details:not([open])').evaluateAll((folded) => {
      for (const one of folded) (one as HTMLDetailsElement).open = true;
    });
    // Wait for requests that the page sends after its first responses.
    await page.waitForTimeout(100);
  }
  return places.length;
}

/**
 * Sends a fixed sequence of requests, and calls `look` between them. The test runs it twice and compares the results:
 * once `look` visits the web page, and once it does nothing.
 */
async function runScenario(t: Test, emulator: Started, look: () => Promise<unknown>) {
  const token = await mint(emulator, { repo: 'team/app', scopes: ['repo:write', 'git:read', 'git:write'] });
  const call = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(emulator.base_url + path, { method, headers: { authorization: `Bearer ${token}`, ...headers } });
  const folder = t.testdir({});
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: folder, env });
  await call('POST', '/api/repos');
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(folder, 'a.txt'), 'one\n');
  await git('add', '.');
  await git('commit', '--quiet', '--message=Begin');
  await git('push', '--quiet', `http://t:${token}@${emulator.git_host}/team/app.git`, 'main');
  await call('GET', '/api/v1/repos/commits');
  await call('GET', '/api/v1/repo', { 'x-emulator-fault': 'rate_limited' });
  await look();
  await git('ls-remote', '--quiet', `http://t:${token}@${emulator.git_host}/team/app.git`);
  await call('GET', '/api/v1/repos/branches');
}

/**
 * Returns the emulator's exported state and its journal (list of recorded requests). Leaves out the values that differ
 * in each run: real durations and the emulator's address.
 */
async function record({ admin_url, git_host }: Started) {
  const archive = Buffer.from(await (await fetch(`${admin_url}/export`, { method: 'POST' })).arrayBuffer());
  const { items } = (await (await fetch(`${admin_url}/requests`)).json()) as { items: Record<string, unknown>[] };
  const { now } = (await (await fetch(`${admin_url}/clock`)).json()) as { now: string };
  const journal = items.map(({ started: _, duration: __, ...entry }) => entry);
  return { archive: archive.toString('base64'), now, journal: JSON.stringify(journal).replaceAll(git_host, 'HOST') };
}

t.test('viewing the page does not change the stored bytes of the emulator', { skip }, async (t) => {
  const start = () => startEmulator(t, { clock: '2026-01-01T00:00:00Z', seed: 'looking' });
  const closed = await start();
  await t.test('nobody looks', (t) => runScenario(t, closed, async () => undefined));
  const open = await start();
  const { page, complaints } = await openPage(t, open);
  let places = 0;
  await t.test('somebody looks', (t) =>
    runScenario(t, open, async () => {
      places += await lookAtEverything(page, open);
    }),
  );
  t.ok(places > 20, `${places} places`);
  const [one, other] = [await record(closed), await record(open)];
  t.equal(other.now, one.now);
  t.equal(other.journal, one.journal);
  t.equal(other.archive, one.archive);
  t.same(complaints, []);
});
