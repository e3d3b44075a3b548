import { request } from 'node:http';
import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { command, folder } from './command.js';
import { mint } from './token.js';

t.setTimeout(120_000);

const MARKUP = '<img src=x onerror="window.hostile=1"><script>window.hostile=1</script>';
const BARE_MARKUP = '<img/src=x/onerror=window.hostile=1>{{7*7}}`id`$(id)\'"';
const BIDI = 'admin\u202egnp.exe\u2066\u001b[2J\u0007';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
}

/** Sends a request exactly as given. Does not use `fetch`, which would normalize the path. */
function send({ base_url }: Started, { method, path, headers, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(base_url, { method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

t.test('whatever clients send is shown as text, runs nothing, and breaks nothing', { skip }, async (t) => {
  const emulator = await startEmulator(t);
  const repo = 'team/a';
  const subject = `${MARKUP}${BIDI}${'s'.repeat(3_000)}`;
  const token = await mint(emulator, { repo, sub: subject, scopes: ['repo:write', 'git:write', 'git:read'] });
  const short = await mint(emulator, { repo, sub: `"${MARKUP}\\${BIDI}` });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-hostile': [MARKUP, `caf\u00e9\u0080 ${'\';!--"<x>=&{()}'}`, ''],
    'x-long': 'h'.repeat(9_000),
  };
  const line = 'z'.repeat(5_000_000);
  const bodies = [
    JSON.stringify({ [MARKUP]: BIDI, nested: [MARKUP, { deep: `\u2028${MARKUP}` }] }),
    `{"path": "${line}"}`,
    `${MARKUP}\n${BIDI}\u0000`,
    Buffer.from(Array.from({ length: 1_000 }, (_, at) => at * 7)),
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  ];
  for (const [at, body] of bodies.entries()) {
    await send(emulator, { method: 'POST', path: `/api/v1/repos/grep?n=${at}&${BARE_MARKUP}`, headers, body });
  }
  await send(emulator, { method: 'GET', path: `/api/v1/../${BARE_MARKUP}//%00%1b#x?${BARE_MARKUP}`, headers });
  await send(emulator, { method: 'GET', path: `/${'p'.repeat(6_000)}`, headers });
  const html = Buffer.from(`<script>window.hostile=1</script>${MARKUP}`).toString('base64url');
  const fault = `raw;status=500;type=text/html;body=${html}`;
  await send(emulator, { method: 'GET', path: '/api/v1/repo', headers: { ...headers, 'x-emulator-fault': fault } });
  const journal = await fetch(`${emulator.admin_url}/requests`);
  const { items } = (await journal.json()) as { items: { id: string; path: string; query: string }[] };
  t.equal(items.length, bodies.length + 3);

  const { page, complaints } = await openPage(t, emulator, { bypassCSP: true });
  const list = page.getByRole('region', { name: 'Requests, newest first' });
  await list
    .getByRole('link')
    .nth(items.length - 1)
    .waitFor();
  t.equal((await list.getByText('U+202E').count()) > 0, true, 'what turns the text round is marked');
  t.same(await accessibilityFaults(page), []);
  const cwd = await folder(t);
  for (const { id } of items) {
    await page.goto(`${emulator.admin_url}/#/requests?id=${id}`);
    const detail = page.getByRole('region', { name: `Request ${id}` });
    await detail.getByRole('button', { name: 'Copy as curl' }).click();
    await detail.getByText('curl -sS', { exact: false }).first().waitFor();
    // Verify that the curl command for copying contains no hidden characters, and run it. Skip commands whose body is
    // truncated.
    const curl = (await detail.locator('.copy code').textContent())!;
    t.notMatch(curl, /[^\P{C}\n]/u, id);
    if (!curl.includes('first 64 KiB'))
      await command(cwd, '/bin/sh', '-c', curl.replace(/^TOKEN=.*/, `TOKEN=${token}`));
    await detail.getByRole('button', { name: /^Show / }).evaluateAll((buttons) => {
      for (const button of buttons) (button as HTMLElement).click();
    });
    t.equal(await page.evaluate(() => document.querySelectorAll('img, script:not([src]), iframe').length), 0, id);
  }
  t.same(await accessibilityFaults(page), []);
  t.equal(await page.evaluate(() => (window as { hostile?: number }).hostile), undefined);
  t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1440);

  // The repeated requests must equal the original ones. Requests whose body the journal has truncated were not
  // repeated.
  const again = (await (await fetch(`${emulator.admin_url}/requests`)).json()) as typeof journal & {
    items: { path: string; query: string; subject: string }[];
  };
  const targets = (given: readonly { path: string; query: string }[]) =>
    given.map(({ path, query }) => `${path}?${query}`);
  t.same(targets(again.items.slice(items.length)), targets(items));

  await send(emulator, { method: 'GET', path: '/api/v1/repo', headers: { authorization: `Bearer ${short}` } });
  await page.goto(`${emulator.admin_url}/#/requests`);
  await list.getByRole('button', { name: MARKUP, exact: false }).click();
  await page.waitForURL(/subject=/);
  await page.getByText('1 request', { exact: true }).waitFor();
  t.same(complaints, []);
});
