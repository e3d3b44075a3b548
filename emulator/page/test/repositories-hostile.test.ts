import t from 'tap';
import { openPage, skip, startEmulator } from './browser.js';
import { eventuallyMatches } from './eventually.js';
import { fastImport, makeRepository } from './git.js';

t.setTimeout(120_000);

const SCRIPT = '<script>alert(1)</script>';
const IMAGE = '<img src=x onerror=alert(2)>';
/** File name that is not UTF-8, quoted for `git fast-import` with octal escapes. */
const NO_UTF8 = '"b\\377d/in \\376"';
const LONG = 5_000_000;

t.test('a hostile repository is shown as text, runs nothing, and does not hang', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const { git, remote } = await makeRepository(t, emulator, 'team/bad');
  const files = {
    [`"${IMAGE}.html"`]: `${SCRIPT}${IMAGE}\u001b[31mred\u202egnp\n`,
    '"\u202efdp.js"': 'const a = "\u2066";\n',
    [NO_UTF8]: Buffer.from([0x61, 0xff, 0xfe, 0x0a]),
    'long.js': `const x = "${'y'.repeat(LONG)}";\nend\n`,
  };
  const author = `${SCRIPT.replaceAll(/[<>]/g, '"')}\u202eeda <"onerror=alert(3)@x>`;
  const commits = [
    { message: `${IMAGE}\n\n${SCRIPT}\u0007\u001b]0;x\u0007\u202e\n`, author, files },
    { message: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.alloc(300_000, 'z')]) },
    { message: 'javascript:alert(4)', files: { 'long.js': `const x = "${'z'.repeat(LONG)}";\nend\n` } },
  ];
  await git(['fast-import', '--quiet'], { input: fastImport('main', commits) });
  for (const name of [SCRIPT, IMAGE.replaceAll(' ', '-'), '\u202eniam']) await git(['branch', name, 'main~2']);
  await git(['push', '--quiet', remote(), '--all']);

  const place = (params: Record<string, string>) =>
    `#/repository?${new URLSearchParams({ name: 'team/bad', ...params }).toString()}`;
  const { page, complaints } = await openPage(t, emulator, { at: place({ tab: 'commits' }) });
  const list = page.getByLabel('Commits, newest first');
  await list.getByRole('link', { name: IMAGE }).waitFor();
  await eventuallyMatches(t, () => list.textContent(), SCRIPT, 'the name of a branch');
  await eventuallyMatches(t, () => list.textContent(), '⟦U+202E⟧', 'what turns the direction is marked');

  await list.getByRole('link', { name: IMAGE }).click();
  const changes = page.getByRole('region', { name: 'Changes' });
  await changes.getByText('4 files changed').waitFor();
  const first = page.getByRole('region', { name: /^Commit / });
  await eventuallyMatches(t, () => first.textContent(), /<script>alert\(1\)<\/script>␇␛\]0;x/, 'the message');
  await eventuallyMatches(t, () => changes.textContent(), `${SCRIPT}${IMAGE}␛[31mred⟦U+202E⟧gnp`, 'a line of a patch');
  t.ok((await first.textContent())!.length < 50_000, 'long lines are cut');
  await list.getByRole('link').nth(1).click();
  await page.getByRole('button', { name: /more/ }).first().waitFor();
  await list.getByRole('link', { name: 'javascript:alert(4)' }).click();
  await changes.getByText('1 file changed').waitFor();

  await page.goto(`${emulator.admin_url}/${place({ tab: 'files', ref: 'refs/heads/main' })}`);
  await page.getByRole('link', { name: '⟦U+202E⟧fdp.js' }).waitFor();
  await page.getByRole('link', { name: `${IMAGE}.html` }).click();
  await page.locator('.token-name', { hasText: 'script' }).first().waitFor();
  await eventuallyMatches(t, () => page.getByLabel('Lines').textContent(), '␛[31mred⟦U+202E⟧gnp');
  await page.goBack();
  await page.getByRole('link', { name: 'b\ufffdd', exact: true }).click();
  await page.getByRole('link', { name: 'in \ufffd', exact: true }).click();
  await page.getByLabel('Lines').getByText('a\ufffd\ufffd').waitFor();
  await page.getByRole('link', { name: 'Blame' }).click();
  await page.locator('.blame').getByText('script', { exact: false }).waitFor();
  await page.getByRole('link', { name: 'bad', exact: true }).click();
  await page.getByRole('link', { name: 'long.js' }).click();
  await page.getByText('its first 1.0 MB are shown').waitFor();
  await page.getByRole('button', { name: /more characters/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /Show/ }).click();
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'Refs', exact: true }).click();
  await page.getByRole('link', { name: SCRIPT, exact: true }).click();
  await page.getByText('1 commit', { exact: true }).waitFor();
  await list.getByRole('link', { name: IMAGE }).waitFor();
  t.same(await page.evaluate(() => document.querySelectorAll('main script, main img, [onerror]').length), 0);
  t.same(complaints, []);
});
