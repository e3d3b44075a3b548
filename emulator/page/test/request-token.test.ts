import t from 'tap';
import { accessibilityFaults } from './accessibility.js';
import { openPage, skip } from './browser.js';
import { detail, row, startClient } from './request-view.js';
import { mint } from './token.js';

t.setTimeout(120_000);

const MARKUP = '<img src=x onerror="window.hostile=1">';
const encoded = (value: unknown) =>
  btoa(JSON.stringify(value)).replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_');

t.test('the details of a request have all claims of its token, and no signature', { skip }, async (t) => {
  const { emulator, call } = await startClient(t);
  const token = await mint(emulator, {
    repo: 'team/app',
    sub: 'ada',
    scopes: ['git:read', 'repo:write'],
  });
  await call('/api/v1/repo?proven', { headers: { authorization: `Bearer ${token}` } });
  const invented = {
    sub: 7,
    iss: MARKUP,
    scopes: ['a b'],
    refs: [['refs/heads/main', ['no-push']]],
    ops: ['no-force-push'],
    nbf: 1767225600,
    password: 'canary',
    team: { id: 4 },
  };
  const unsigned = `${encoded({ alg: 'none', kid: 'k1' })}.${encoded(invented)}.c2lnbmF0dXJl`;
  await call('/api/v1/repo?invented', { headers: { authorization: `Bearer ${unsigned}` } });
  await call('/api/v1/repo?opaque', { headers: { authorization: 'Bearer opaque' } });
  for (const [width, colorScheme] of [
    [1440, 'light'],
    [390, 'dark'],
  ] as const) {
    const viewport = { width, height: 900 };
    const { page, complaints } = await openPage(t, emulator, { viewport, colorScheme, bypassCSP: true });
    /** Opens a request, and returns the names and values of its token's rows. */
    const factsOf = async (query: string) => {
      await row(page, new RegExp(`repo\\?${query}$`)).click();
      const section = detail(page)
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: 'Token' }) });
      await section.getByText('sent as bearer').waitFor();
      const names = await section.locator('dt').allTextContents();
      const values = await section.locator('dd').allTextContents();
      t.notMatch(await detail(page).innerHTML(), /eyJ|c2lnbmF0dXJl|canary/, 'no secret is shown');
      t.same(await accessibilityFaults(page), []);
      t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, 'no horizontal scroll bar');
      await page.keyboard.press('Escape');
      return Object.fromEntries(names.map((name, at) => [name, values[at]!]));
    };
    t.match(await factsOf('proven'), {
      Signature: /^valid/,
      'Subject (sub)': 'ada',
      'Repository (repo)': 'team/app',
      'Issuer (iss)': 'demo',
      'Scopes (scopes)': 'git:read, repo:write',
      'Expires (exp)': /^\d{4}-/,
      'Algorithm (alg)': /^(?:ES|RS)\d+$/,
    });
    t.match(await factsOf('invented'), {
      Signature: /^not verified/,
      sub: '7',
      'Issuer (iss)': MARKUP,
      'Scopes (scopes)': '["a b"]',
      'Rules for refs (refs)': '[["refs/heads/main",["no-push"]]]',
      'Rules for operations (ops)': 'no-force-push',
      'Valid from (nbf)': '2026-01-01 00:00:00',
      password: '[redacted]',
      team: '{"id":4}',
      'Algorithm (alg)': 'none',
      'Key (kid)': 'k1',
    });
    t.match(await factsOf('opaque'), { Claims: /^none/ });
    t.same(complaints, []);
  }
});
