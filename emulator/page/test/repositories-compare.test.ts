import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { type Clone, fastImport, makeRepository } from './git.js';

t.setTimeout(180_000);

const IMAGE = '<img-src=x-onerror=alert(1)>';
const TURNED = '\u202eniam';
const COMMENT = 'const a = 1;\n/* one\n   two\n   three */\nreturn a;\n';

/**
 * Pushes a history: `topic` and `main` have diverged, `topic` contains a merge, a renamed file, a binary file and a file
 * with 2,000 changed lines. Other branches have hostile names, 105 commits, or no common history with `main`.
 */
async function pushHistory(t: Test, emulator: Started): Promise<Clone> {
  const clone = await makeRepository(t, emulator, 'team/app');
  const { git, remote, folder } = clone;
  const write = (file: string, content: string | Buffer) => writeFile(join(folder, file), content);
  const commit = async (message: string) => {
    await git(['add', '--all', '.']);
    await git(['commit', '--quiet', '-m', message]);
  };
  const lines = (text: string) => Array.from({ length: 2_000 }, (_, at) => `${text} ${at}\n`).join('');
  await write('app.ts', COMMENT);
  await write('old.ts', lines('let x = ').slice(0, 300));
  await write('long.txt', lines('before'));
  await commit('Begin');
  await git(['branch', 'side']);
  await git(['switch', '--quiet', '-c', 'topic']);
  await rename(join(folder, 'old.ts'), join(folder, 'new.ts'));
  await write('app.ts', COMMENT.replace('two', '2'));
  await write('logo.bin', Buffer.from([0, 1, 2, 255]));
  await commit('Change much');
  await write('long.txt', lines('after'));
  await commit(`${IMAGE} \u0007`);
  await git(['switch', '--quiet', 'side']);
  await write('side.txt', 'side\n');
  await commit('Add side');
  await git(['switch', '--quiet', 'topic']);
  await git(['merge', '--quiet', '--no-ff', '-m', 'Merge side', 'side']);
  await git(['tag', '-a', '-m', 'First', 'v1']);
  for (const name of [IMAGE, TURNED]) await git(['branch', name]);
  await git(['switch', '--quiet', 'main']);
  await write('main.txt', 'main\n');
  await commit('Change main');
  const many = Array.from({ length: 105 }, (_, at) => ({ message: `commit ${at + 1}`, files: { n: `${at}` } }));
  await git(['fast-import', '--quiet'], { input: fastImport('many', many) });
  await git(['push', '--quiet', remote(), '--all']);
  await git(['push', '--quiet', remote(), '--tags']);
  return clone;
}

const at = (params: Readonly<Record<string, string>>) =>
  `#/repository?${new URLSearchParams({ name: 'team/app', ...params }).toString()}`;

/** Returns the heads of the changed files, such as `M app.ts+1 −1`. */
async function files(page: Page): Promise<string[]> {
  const heads = await page.getByRole('region', { name: 'Changes' }).locator('.diff-head').allTextContents();
  return heads.map((text) =>
    text
      .replaceAll(/[▾▸\s]+/g, ' ')
      .replace(/ ?File$/, '')
      .trim(),
  );
}

/** Complaints except for the 404 responses that the test causes on purpose. */
const unexpected = (complaints: readonly string[]) => complaints.filter((complaint) => !complaint.includes('404'));

t.test('comparison of two commits', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { git } = await pushHistory(t, emulator);
  const short = (revision: string) => git(['rev-parse', '--short=12', revision]);

  await t.test('two refs have their commits, files and changes since the merge base, or directly', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at({ tab: 'refs' }) });
    await page.getByRole('link', { name: 'Compare topic with the default branch' }).click();
    await page.getByText('topic is 4 commits ahead of main, and 1 commit behind it.').waitFor();
    t.match(page.url(), /base=refs%2Fheads%2Fmain&head=refs%2Fheads%2Ftopic/);
    await page.getByRole('link', { name: await short('side~1'), exact: true }).waitFor();
    const commits = page.getByRole('region', { name: '4 commits only in head' });
    const subjects = (await commits.getByRole('link').allTextContents()).map((text) => text.replace(/ ␇$/, ''));
    t.same(subjects.sort(), ['Add side', 'Change much', IMAGE, 'Merge side'].sort());
    await page.getByText('5 files changed +2,002 −2,001').waitFor();
    t.same(await files(page), [
      'M app.ts+1 −1',
      'A logo.bin',
      'M long.txt+2,000 −2,000',
      'R old.ts → new.ts+0 −0',
      'A side.txt+1 −0',
    ]);
    await page.getByRole('button', { name: /long\.txt/ }).click();
    await page.getByText('before 0', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Show 1,000 of / }).click();
    await page.getByText('before 1200', { exact: true }).waitFor();

    await page.getByLabel('Compare the two trees directly').check();
    await page.getByRole('button', { name: /D main\.txt/ }).waitFor();
    await page.getByText('6 files changed').waitFor();
    t.match(page.url(), 'direct=true');
    await page.getByRole('button', { name: 'Swap base and head' }).click();
    await page.getByText('main is 1 commit ahead of topic, and 4 commits behind it.').waitFor();
    await page.getByRole('button', { name: /A main\.txt/ }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: /D main\.txt/ }).waitFor();
    t.same(complaints, []);
  });

  await t.test('a commit is typed, and the keyboard is enough', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at({}) });
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByText(/^Choose the head/).waitFor();
    t.match(await page.getByLabel('Base').inputValue(), 'refs/heads/main');
    await page.getByLabel('Head').selectOption({ label: 'Other commit…' });
    await page.getByLabel('Head', { exact: true }).press('Tab');
    await page.keyboard.type(await git(['rev-parse', 'topic~1']));
    await page.keyboard.press('Enter');
    const topic = await short('topic~1');
    await page.getByText(`${topic} is 2 commits ahead of main, and 1 commit behind it.`).waitFor();
    await page.getByRole('link', { name: 'Change much' }).click();
    await page.getByRole('region', { name: /^Commit / }).waitFor();
    await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
    await page.getByText(/is 1 commit ahead of /).waitFor();
    t.same(complaints, []);
  });

  await t.test('unknown refs, equal refs, and unrelated histories have a clear sentence', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at({ tab: 'compare', head: 'gone' }) });
    await page.getByRole('alert').getByText('No branch, tag or commit is named gone.').waitFor();
    await page.getByLabel('Head').selectOption({ label: 'v1' });
    await page.getByText('v1 is 4 commits ahead of main').waitFor();
    await page.getByLabel('Base').selectOption({ label: 'topic' });
    await page.getByText('v1 and topic are the same commit.').waitFor();
    await page.getByText('0 files changed').waitFor();
    await page.getByLabel('Head').selectOption({ label: 'side' });
    await page.getByText('side is 3 commits behind topic, and has no commits that topic lacks.').waitFor();
    await page.getByLabel('Head').selectOption({ label: 'many' });
    await page.getByText('many and topic have no common history').waitFor();
    await page.getByText('and 5 commits more').waitFor();
    t.equal(await page.getByRole('region', { name: '105 commits only in head' }).getByRole('link').count(), 100);
    await page.getByText(/^Without a merge base/).waitFor();
    await page.getByLabel('Compare the two trees directly').check();
    await page.getByText('6 files changed').waitFor();
    t.same(unexpected(complaints), []);
  });

  await t.test('hostile names are text', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at({ tab: 'refs' }) });
    await page.getByRole('link', { name: `Compare ${IMAGE} with the default branch` }).click();
    await page.getByText(`${IMAGE} is 4 commits ahead of main`).waitFor();
    await page.getByRole('link', { name: `${IMAGE} ␇` }).waitFor();
    await page.getByLabel('Base').selectOption({ label: '⟦U+202E⟧niam' });
    await page.getByText(`${IMAGE} and ⟦U+202E⟧niam are the same commit.`).waitFor();
    t.match(await page.title(), `Compare ⟦U+202E⟧niam with ${IMAGE}`);
    t.equal(await page.locator('main img').count(), 0);
    t.same(complaints, []);
  });

  await t.test('changes have the colours of their language', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: at({ tab: 'compare', head: 'topic' }) });
    const rows = page.locator('.diff-file', { hasText: 'app.ts' }).locator('.patch tbody tr');
    await rows.locator('.token-keyword', { hasText: 'const' }).waitFor();
    const lines = await rows.evaluateAll((all) =>
      all.map((row) => `${row.textContent}: ${row.querySelector('[class^=token-]')?.className ?? ''}`),
    );
    t.same(lines.slice(1), [
      '11const a = 1;: token-keyword',
      '22/* one: token-comment',
      '3−   two: token-comment',
      '3+   2: token-comment',
      '44   three */: token-comment',
      '55return a;: token-keyword',
    ]);
    await page.goto(`${emulator.admin_url}/${at({ tab: 'commits', commit: await git(['rev-parse', 'topic~2']) })}`);
    await page.getByRole('region', { name: 'Changes' }).locator('.token-comment').first().waitFor();
    t.same(complaints, []);
  });

  for (const [width, colorScheme] of [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const) {
    await t.test(`axe finds nothing serious at ${width} pixels, ${colorScheme}`, async (t) => {
      const { page } = await openPage(t, emulator, {
        at: at({ tab: 'compare', head: 'topic', direct: 'true' }),
        viewport: { width, height: 900 },
        colorScheme,
        bypassCSP: true,
      });
      await page.locator('.token-comment').first().waitFor();
      t.same(await accessibilityFaults(page), []);
      await eventuallyEquals(t, () => page.evaluate(() => document.documentElement.scrollWidth), width);
      await page.goto(`${emulator.admin_url}/${at({ tab: 'refs' })}`);
      await eventuallyMatches(t, () => page.locator('.ref-table').first().textContent(), 'Compare');
      t.same(await accessibilityFaults(page), []);
    });
  }
});
