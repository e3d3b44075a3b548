import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { admin } from './admin-request.js';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { eventuallyEquals, eventuallyMatches } from './eventually.js';
import { type Clone, makeRepository } from './git.js';
import { sample } from './sample.js';
import { mint } from './token.js';

t.setTimeout(120_000);

/**
 * Creates a repository and pushes a history with a merge, tags and notes. Also pushes refs to the special remotes of
 * the repository.
 */
async function pushHistory(t: Test, emulator: Started, name = 'team/app'): Promise<Clone & { merge: string }> {
  const clone = await makeRepository(t, emulator, name);
  const { git, remote, folder } = clone;
  const commit = async (file: string, content: string | Buffer, message: string, author = 'Ada') => {
    await writeFile(join(folder, file), content);
    await git(['add', '.']);
    await git(['commit', '--quiet', '-m', message], { env: { GIT_AUTHOR_NAME: author } });
  };
  await commit('app.js', 'const one = 1;\nconst two = 2;\n', 'Begin');
  await git(['tag', 'v1']);
  await git(['switch', '--quiet', '-c', 'topic']);
  await commit('topic.bin', Buffer.from([0, 1, 2, 255]), 'Add a binary', 'Grace');
  await git(['switch', '--quiet', 'main']);
  await commit('app.js', 'const one = 1;\nconst two = 22; // changed\n', 'Change two', 'Linus');
  await git(['merge', '--quiet', '--no-ff', '-m', 'Merge topic', 'topic']);
  await git(['tag', '-a', '-m', 'Second', 'v2']);
  await git(['notes', 'add', '-m', 'Seen in production']);
  await git(['push', '--quiet', remote(), 'main', 'topic', '--tags', 'refs/notes/commits']);
  await git(['push', '--quiet', remote('+ephemeral'), 'main:refs/heads/preview']);
  await git(['push', '--quiet', remote('+import'), 'topic:refs/heads/imported']);
  return { ...clone, merge: await git(['rev-parse', 'main']) };
}

const at = (params: Record<string, string>) =>
  `#/repository?${new URLSearchParams({ name: 'team/app', ...params }).toString()}`;

/** Waits until the page shows its heading and has loaded its content. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('.loading') === null);
}

/** Lists the branches as a client. Returns the status, the error code and the `Retry-After` header of the response. */
async function ask(emulator: Started): Promise<{ status: number; code?: string; wait: string | null }> {
  const token = await mint(emulator, { repo: 'team/app', scopes: ['git:read', 'git:write', 'repo:write'] });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${emulator.base_url}/api/v1/repos/branches`, { headers });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, wait: response.headers.get('retry-after'), ...(code !== undefined && { code }) };
}

async function stateIn(page: Page, state: string): Promise<void> {
  await page.getByRole('region', { name: 'State' }).getByText(`State for clients: ${state}`).waitFor();
}

t.test('repositories', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  let pushed: ReturnType<typeof pushHistory> | undefined;
  const history = () => {
    pushed ??= pushHistory(t, emulator);
    return pushed;
  };

  await t.test('an empty list teaches, makes a repository by a click, and finds one by its name', async (t) => {
    const { page, complaints } = await openPage(t, emulator, { at: '#/repositories' });
    await page.getByText('curl -X POST').waitFor();
    await page.getByLabel('Name').fill('team/new');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'team/new' }).waitFor();
    await page.getByRole('link', { name: 'Commits' }).click();
    await page.getByText('No commits yet').waitFor();
    await page.getByRole('button', { name: 'Insert a new token' }).click();
    const line = page.getByText(/^git clone http:\/\/t:ey/);
    await line.waitFor();
    const { git } = await makeRepository(t, emulator, 'team/other');
    await git((await line.textContent())!.split(' ').slice(1));

    await page.getByRole('navigation').getByRole('link', { name: 'Repositories', exact: true }).click();
    await page.getByRole('row', { name: /team\/other/ }).waitFor();
    await page.getByLabel('Filter by name').fill('NEW');
    await page.getByText('1 of 2').waitFor();
    t.match(page.url(), 'q=NEW', 'the filter is in the address');
    await eventuallyEquals(t, () => page.getByRole('row', { name: /team\/other/ }).count(), 0);
    await eventuallyMatches(t, () => page.getByRole('row', { name: /team\/new/ }).textContent(), /activemainnone00/);
    t.same(complaints, []);
  });

  await t.test('a history is a graph; a commit has its people, parents, notes and diff', async (t) => {
    const { git, merge } = await history();
    const { page, complaints } = await openPage(t, emulator, { at: '#/repositories' });
    await page.getByRole('link', { name: 'team/app' }).click();
    await page.getByRole('link', { name: 'Commits' }).click();
    await page.getByText('4 commits').waitFor();
    const list = page.getByLabel('Commits, newest first');
    const shown = await list.getByRole('link').allTextContents();
    t.same(shown, (await git(['log', '--date-order', '--format=%s', 'main'])).split('\n'));
    const rowOf = (subject: string) => list.getByRole('listitem').filter({ hasText: subject });
    await eventuallyMatches(t, () => rowOf('Merge topic').textContent(), /main[\s\S]*v2/);
    await eventuallyMatches(t, () => rowOf('Begin').textContent(), 'v1');
    await eventuallyEquals(t, () => rowOf('Merge topic').locator('circle.is-merge').count(), 1);
    await eventuallyEquals(t, () => rowOf('Merge topic').locator('path').count(), 2, 'a line in each colour');

    await list.getByRole('link', { name: 'Merge topic' }).click();
    const detail = page.getByRole('region', { name: `Commit ${merge.slice(0, 8)}` });
    await detail.getByText('Seen in production').waitFor();
    await eventuallyMatches(t, () => detail.textContent(), /Ada\s+<ada@example.com>/);
    const topic = await git(['rev-parse', '--short=12', 'topic']);
    await detail.getByText('1 file changed').waitFor();
    await detail.getByText(/Binary: 0 B → 4 B/).waitFor();
    await detail.getByLabel('Compare with').selectOption({ index: 1 });
    await detail.getByRole('row', { name: /22; \/\/ changed/ }).waitFor();
    await detail.getByRole('link', { name: topic }).click();
    await page
      .getByRole('region', { name: `Commit ${topic.slice(0, 8)}` })
      .getByText('Grace')
      .waitFor();
    await page.goBack();
    await page.goBack();
    await list.getByRole('link', { name: 'Change two' }).click();
    const rows = page.getByRole('region', { name: 'Changes' }).getByRole('row');
    await rows.last().waitFor();
    t.same((await rows.allTextContents()).slice(1), [
      '@@ -1,2 +1,2 @@',
      '11const one = 1;',
      '2−const two = 2;',
      '2+const two = 22; // changed',
    ]);

    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Changes' }).waitFor({ state: 'detached' });
    await list.getByRole('link', { name: 'Merge topic' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /const two = 2;/ }).waitFor();
    t.match(page.url(), await git(['rev-parse', 'v1']), 'the keyboard opens the last commit');

    await page.getByLabel('Ref').selectOption({ label: 'topic' });
    await page.getByText('2 commits').waitFor();
    await page.getByLabel('Ref').selectOption({ label: 'All refs, including ref namespaces' });
    await page.getByText('5 commits').waitFor();
    await eventuallyMatches(t, () => rowOf('Merge topic').textContent(), /ephemeral: preview|\+1/);
    t.same(complaints, []);
  });

  await t.test('files have highlighted lines, and blame beside them', async (t) => {
    const { git } = await history();
    const { page, complaints } = await openPage(t, emulator, { at: at({ tab: 'files' }) });
    await page.getByRole('link', { name: 'topic.bin' }).click();
    await page.getByText('Binary, 4 B').waitFor();
    await page.getByRole('link', { name: 'app', exact: true }).click();
    await page.getByRole('link', { name: 'app.js' }).click();
    await page.locator('.token-keyword', { hasText: 'const' }).first().waitFor();
    t.equal((await page.locator('.source-line code').allTextContents()).join('\n'), await git(['show', 'main:app.js']));
    await page.getByRole('link', { name: 'Line 2' }).click();
    t.match(page.url(), 'line=2');
    await page.locator('.source-line.is-open', { hasText: '22' }).waitFor();
    await page.getByRole('link', { name: 'Blame' }).click();
    const blamed = page.locator('.source-line').filter({ hasText: '22' });
    await blamed.getByText('Linus').waitFor();
    await blamed.getByRole('link', { name: await git(['rev-parse', '--short=8', 'main^1']) }).click();
    await page.getByRole('region', { name: 'Changes' }).waitFor();
    await page.getByRole('link', { name: 'File', exact: true }).click();
    await page.getByRole('link', { name: 'Line 2' }).waitFor();
    t.same(complaints, []);
  });

  await t.test('refs are grouped by kind and namespace; notes stand beside their commits', async (t) => {
    const { merge } = await history();
    const { page, complaints } = await openPage(t, emulator, { at: at({ tab: 'refs' }) });
    const group = (name: string) => page.getByRole('region', { name, exact: true });
    await group('Branches').getByRole('row', { name: /topic/ }).waitFor();
    await group('Branches')
      .getByRole('row', { name: /imported/ })
      .waitFor();
    await group('Tags').getByRole('row', { name: /v2/ }).getByText('annotated tag').click();
    await group('Tags').getByText('Second').waitFor();
    await eventuallyMatches(t, () => group('Tags').getByRole('row', { name: /v1/ }).textContent(), /commit/);
    t.match(
      await group('Namespace ephemeral')
        .getByRole('row', { name: /preview/ })
        .textContent(),
      merge.slice(0, 12),
    );
    await page.getByLabel('Filter refs').fill('prev');
    await page.getByText('1 of 7').waitFor();
    await page.getByRole('link', { name: 'preview', exact: true }).click();
    await page.getByText('4 commits').waitFor();
    await page.getByRole('link', { name: 'Notes' }).click();
    await page
      .getByRole('region', { name: `Note on ${merge.slice(0, 12)}` })
      .getByText('Seen in production')
      .waitFor();
    t.same(complaints, []);
  });

  await t.test('all parts fit into 360 pixels, in light and dark, and axe finds nothing serious', async (t) => {
    const { git, merge } = await history();
    const change = await git(['rev-parse', '--short=8', 'main^1']);
    const places = [
      ['#/repositories', 'team/app'],
      [at({}), 'State for clients'],
      [at({ tab: 'commits', all: 'true' }), '5 commits'],
      [at({ tab: 'commits', commit: merge }), '1 file changed'],
      [at({ tab: 'files' }), 'topic.bin'],
      [at({ tab: 'files', path: 'app.js', blame: 'on' }), change],
      [at({ tab: 'refs' }), 'annotated tag'],
      [at({ tab: 'notes' }), 'Seen in production'],
    ] as const;
    for (const [colorScheme, width] of [
      ['light', 1440],
      ['dark', 360],
    ] as const) {
      const { page } = await openPage(t, emulator, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
      for (const [index, [place, text]] of sample(t, [...places.entries()], 4)) {
        await page.goto(`${emulator.admin_url}/${place}`);
        await page.getByText(text).first().waitFor();
        // Alternate between the two colour schemes, because a check takes long. Each place is checked in one of them.
        if ((index % 2 === 0) === (colorScheme === 'dark'))
          t.same(await accessibilityFaults(page), [], `${place}, ${colorScheme}`);
        const widest = await page.evaluate(() => document.documentElement.scrollWidth);
        t.ok(widest <= width, `${place} fits into ${width}: ${widest}`);
      }
    }
  });

  await t.test('buttons set the state that clients meet, and looking wakes nothing', async (t) => {
    const { git, remote } = await history();
    const { page, complaints } = await openPage(t, emulator, { at: at({}) });
    const click = (name: string) => page.getByRole('button', { name }).click();
    await stateIn(page, 'active');
    t.equal((await ask(emulator)).status, 200);

    await click('Archived');
    await stateIn(page, 'archived');
    for (const tab of ['Commits', 'Files', 'Refs', 'Notes', 'Overview']) {
      await page.getByRole('link', { name: tab, exact: true }).click();
      await settled(page);
    }
    await stateIn(page, 'archived');
    t.match(await ask(emulator), { status: 409, code: 'repository_thawing' }, 'a client wakes it');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByText(/State for clients: (thawing|active)/).waitFor();

    await page.getByLabel('End of the new state').selectOption({ label: 'after a number of requests' });
    await page.getByLabel('Requests', { exact: true }).fill('2');
    await page.getByLabel('Retry-After').fill('7');
    await click('Thawing');
    await page.getByText('for 2 more requests').waitFor();
    t.match(await ask(emulator), { code: 'repository_thawing', wait: '7' });
    t.match(await ask(emulator), { code: 'repository_thawing', wait: '7' });
    t.equal((await ask(emulator)).status, 200, 'then it is over');

    await page.getByLabel('End of the new state').selectOption({ label: 'when I change it' });
    await click('Syncing');
    await stateIn(page, 'syncing');
    await t.rejects(git(['push', '--quiet', remote(), 'main:refs/heads/late']));
    await click('Active');
    await stateIn(page, 'active');
    await git(['push', '--quiet', remote(), 'main:refs/heads/late']);

    await click('Deleted (reversible)');
    await stateIn(page, 'deleted');
    t.equal((await ask(emulator)).status, 404);
    await click('Active');
    await stateIn(page, 'active');
    await click('Delete…');
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();
    t.equal((await ask(emulator)).status, 200);
    await click('Delete…');
    await page.getByRole('button', { name: 'Delete the repository' }).click();
    await page.getByRole('heading', { level: 1, name: 'Repositories', exact: true }).waitFor();
    t.equal((await ask(emulator)).status, 404);
    await page.getByRole('link', { name: 'team/app' }).click();
    await page.getByText('The repository was deleted').waitFor();
    t.same(complaints, []);
  });
});

t.test('a repository of another organization is on the page of that organization', { skip }, async (t) => {
  const emulator = await startEmulator(t, { org: ['demo', 'other'] });
  await admin(emulator, 'POST', 'repositories', { name: 'app', organization: 'other' });
  await admin(emulator, 'POST', 'repositories', { name: 'app' });
  const { page } = await openPage(t, emulator, { at: '#/repository?name=app&organization=demo' });
  await page.getByRole('region', { name: 'Details' }).getByText('demo', { exact: true }).waitFor();
  await page.goto(`${emulator.admin_url}/#/repository?name=app&organization=other`);
  await page.getByRole('link', { name: 'go there' }).click();
  await page.getByRole('region', { name: 'Details' }).getByText('other', { exact: true }).waitFor();
  t.not(new URL(page.url()).origin, emulator.base_url);
});
