import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { ARGUMENTS, EXECUTABLE, endEmulator, spawnEmulator } from './browser.js';
import { ENVIRONMENT } from './command.js';
import { mint } from './token.js';

/*
 * Takes the screenshot of the web page for README.md (`npm run picture`). Real clients send the requests that it shows.
 * The emulator's clock and seed are fixed, so that the picture stays the same.
 */
const PICTURE = fileURLToPath(new URL('../../../../emulator/page/picture.png', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'picture-'));
const { started, child } = await spawnEmulator('--clock', '2026-01-01T09:00:00Z', '--seed', 'picture');
try {
  const scopes = ['repo:write', 'git:read', 'git:write', 'org:read'];
  const token = await mint(started, { repo: 'team/app', scopes, sub: 'deploy-bot' });
  const other = await mint(started, { repo: 'team/app', scopes: ['git:read'], sub: 'ci' });
  const call = (method: string, path: string, by = token, headers: Record<string, string> = {}) =>
    fetch(started.base_url + path, { method, headers: { authorization: `Bearer ${by}`, ...headers } });
  const git = (...args: string[]) =>
    promisify(execFile)('git', args, { cwd: folder, env: ENVIRONMENT }).catch(() => 'what is asked for fails');
  const remote = `http://t:${token}@${started.git_host}/team/app.git`;

  await call('POST', '/api/repos');
  await git('init', '--quiet', '--initial-branch=main');
  await writeFile(join(folder, 'README.md'), '# app\n');
  await git('add', '.');
  await git('commit', '--quiet', '--message=Begin');
  await git('push', '--quiet', remote, 'main');
  await call('GET', '/api/v1/repos/branches');
  await call('GET', '/api/v1/repos/commits?sha=main', other);
  await call('GET', '/api/v1/repos/commit?sha=gone', other);
  await call('POST', '/api/v1/repos/tags', other);
  await call('GET', '/api/v1/repo', token, { 'x-emulator-fault': 'repository_thawing;retry-after=7' });
  await call('GET', '/api/v1/repos/branches', token, { 'x-emulator-fault': 'rate_limited;retry-after=2' });
  await git('clone', '--quiet', remote, 'clone');
  await git('-c', 'http.extraHeader=X-Emulator-Fault: sync_in_progress', 'push', remote, 'main:next');
  await call('GET', '/api/repos', token);

  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: 'light' });
    await page.goto(`${started.admin_url}/#/requests`);
    await page.getByText('rate_limited').first().waitFor();
    await page.locator('.request-row', { hasText: 'rate_limited' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Processing steps' }).waitFor();
    await page.getByText('stopped here').waitFor({ state: 'attached' });
    await page.screenshot({ path: PICTURE });
  } finally {
    await browser.close();
  }
} finally {
  await endEmulator(child);
  await rm(folder, { recursive: true, force: true });
}
