import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { allRules } from '../../rules/registry.js';
import { compareReports } from '../compare.js';
import type { Report } from '../results.js';
import { hostileResult, reportWith, resultOf } from '../test/sample-report.js';
import { compareHtml } from './compare-page.js';
import { html } from './report-page.js';

/** Path of the Chromium program that Debian installs. Empty if Chromium is not installed. */
const EXECUTABLE = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? '';
const skip = EXECUTABLE === '' && 'Chromium is not installed: apt-get install chromium-headless-shell';

const ARGUMENTS = [
  '--headless',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // Chromium does not start its sandbox as root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];

t.setTimeout(180_000);

const REPORT = reportWith([
  resultOf('pass', 'jwt.typ', { section: 'Token header', says: 'typ may be JWT.' }),
  resultOf('fail', 'jwt.alg.none', {
    section: 'Token header',
    says: 'A token without a signature is refused.',
    reason: 'unexpected status or code of the refusal',
    expected: '403 forbidden',
    actual: '200',
    transcript: [{ request: 'GET /api/v1/repo\nauthorization: Bearer <token>', response: '200\n\n{}' }],
    nearest: {
      rule: 'jwt.typ',
      request: 'GET /api/v1/repo',
      status: 200,
      differs: ['token defect: "unsigned", there none'],
    },
    curl: 'curl -sS http://127.0.0.1:1/api/v1/repo',
  }),
  resultOf('warn', 'err.content-type', { level: 'SHOULD', reason: 'an error is not labelled' }),
  resultOf('observed', 'err.method', { level: 'UNSPECIFIED', observed: { outcome: '405 method_not_allowed' } }),
  resultOf('skip', 'general.https', { section: 'What the service does', reason: 'the target is on this machine' }),
]);

interface Opened extends AsyncDisposable {
  readonly page: Page;
  /**
   * Errors that the page reported, and addresses that the page requested. The tests expect an empty list, because the
   * page needs no other file.
   */
  readonly complaints: readonly string[];
}

let browser: Browser | undefined;
t.teardown(() => browser?.close());

async function open(
  t: Test,
  shown: Report | string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Opened> {
  browser ??= await chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
  const file = join(t.testdir({}), 'page.html');
  writeFileSync(file, typeof shown === 'string' ? shown : html(shown));
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const address = pathToFileURL(file).href;
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== address && !request.url().startsWith('data:')) complaints.push(request.url());
  });
  await page.goto(address);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Returns the ids of the rules that the page currently shows. */
function shownRules(page: Page): Promise<string[]> {
  return page.$$eval('.rule', (nodes) =>
    nodes.filter((node) => node.getClientRects().length > 0).map((node) => node.id.slice('rule-'.length)),
  );
}

const ALL = ['jwt.typ', 'jwt.alg.none', 'err.content-type', 'err.method', 'general.https'];

t.test('the filters by verdict and level and the search are combined', { skip }, async (t) => {
  await using opened = await open(t, REPORT);
  const { page } = opened;
  t.same(await shownRules(page), ALL);
  await page.getByRole('button', { name: /fail 1/ }).click();
  t.same(await shownRules(page), ['jwt.alg.none']);
  t.equal(await page.textContent('#shown'), '1 of 5 shown');
  await page.getByRole('button', { name: /warn 1/ }).click();
  t.same(await shownRules(page), ['jwt.alg.none', 'err.content-type']);
  await page.getByRole('button', { name: 'SHOULD 1' }).click();
  t.same(await shownRules(page), ['err.content-type']);
  t.equal(await page.getByRole('button', { name: 'SHOULD 1' }).getAttribute('aria-pressed'), 'true');
  t.same(
    await page.$$eval('section[data-section]', (all) => all.filter((one) => one.getClientRects().length > 0).length),
    1,
    'a section with nothing to show is not shown',
  );
  await page.getByRole('button', { name: 'Show all' }).click();
  t.same(await shownRules(page), ALL);
  await page.getByRole('searchbox', { name: 'Search' }).fill('TOKEN unsigned');
  t.same(await shownRules(page), ['jwt.alg.none'], 'also in what was sent, in any case');
  await page.getByRole('searchbox').fill('no such word');
  t.same(await shownRules(page), []);
  t.same(opened.complaints, []);
});

t.test('a failure shows the expected value, the request, the response and a curl command', { skip }, async (t) => {
  await using opened = await open(t, REPORT);
  const text = await opened.page.locator('#rule-jwt\\.alg\\.none').textContent();
  for (const part of [
    '403 forbidden',
    'Bearer <token>',
    'token defect: "unsigned", there none',
    'curl -sS',
    '--only jwt.alg.none',
  ]) {
    t.ok(text?.includes(part), part);
  }
  t.equal(await opened.page.locator('#rule-jwt\\.typ').getAttribute('open'), null, 'what holds is folded');
});

t.test('every control works with the keyboard', { skip }, async (t) => {
  await using opened = await open(t, REPORT);
  const { page } = opened;
  const focused = () => page.evaluate<string>('document.activeElement.textContent.trim().slice(0, 40)');
  await page.keyboard.press('Tab');
  t.equal(await focused(), 'Skip to the rules');
  t.ok(((await page.locator('.skip').boundingBox())?.x ?? -1) >= 0, 'it can be seen where it has the focus');
  const outline = await page.evaluate("getComputedStyle(document.querySelector('.skip')).outlineStyle");
  t.equal(outline, 'solid', 'and so can the focus');
  await page.keyboard.press('Enter');
  t.equal(await page.evaluate('document.activeElement.id'), 'main');
  await page.keyboard.press('Tab');
  t.match(await focused(), /jwt\.typ/);
  await page.keyboard.press('Enter');
  t.not(await page.locator('#rule-jwt\\.typ').getAttribute('open'), null, 'a rule opens');
  await page.keyboard.press('/');
  t.equal(await page.evaluate('document.activeElement.tagName'), 'INPUT');
  await page.keyboard.type('https');
  t.same(await shownRules(page), ['general.https']);
  await page.keyboard.press('Enter');
  t.same(await shownRules(page), ['general.https'], 'Enter sends nothing anywhere');
  await page.keyboard.press('Tab');
  t.match(await focused(), /pass 1/);
  await page.keyboard.press('Space');
  t.same(await shownRules(page), [], 'a button is pressed by the space bar');
  const stops = await page.evaluate(
    "[...document.querySelectorAll('a, button, input, summary')].filter((one) => one.tabIndex < 0).length",
  );
  t.equal(stops, 0, 'nothing is left out of the order');
  t.same(opened.complaints, []);
});

t.test('a link to a rule opens it even if a filter hides it', { skip }, async (t) => {
  await using opened = await open(t, REPORT);
  const { page } = opened;
  await page.getByRole('button', { name: /warn 1/ }).click();
  await page.getByRole('link', { name: 'jwt.alg.none' }).first().click();
  await page.locator('#rule-jwt\\.alg\\.none > summary:focus').waitFor();
  t.ok((await shownRules(page)).includes('jwt.alg.none'));
});

t.test('the page follows the preferred colour scheme, with sufficient contrast in both', { skip }, async (t) => {
  const seen = new Set<string>();
  for (const colorScheme of ['light', 'dark'] as const) {
    await using opened = await open(t, REPORT, { colorScheme });
    const low = await opened.page.evaluate<{ ratio: number; what: string }>(LOWEST_CONTRAST);
    t.ok(low.ratio >= 4.5, `${colorScheme}: ${low.what} has a contrast of ${low.ratio.toFixed(2)}`);
    seen.add(await opened.page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
  }
  t.equal(seen.size, 2);
});

/**
 * JavaScript that runs in the page, and finds the text with the lowest contrast to its background. The contrast is
 * computed as in WCAG 2.2, success criterion 1.4.3.
 */
const LOWEST_CONTRAST = `(() => {
  const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (color) => {
    const [red, green, blue] = numbers(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (node) => {
    for (let one = node; one !== null; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (numbers(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  let lowest = { ratio: 21, what: '' };
  for (const node of document.body.querySelectorAll('*')) {
    if (!node.textContent.trim() || node.tagName === 'SCRIPT') continue;
    const [a, b] = [luminance(getComputedStyle(node).color), luminance(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < lowest.ratio) lowest = { ratio, what: node.tagName + ' ' + node.className };
  }
  return lowest;
})()`;

t.test('the printed page shows everything, including folded and filtered rules', { skip }, async (t) => {
  await using opened = await open(t, REPORT);
  const { page } = opened;
  await page.getByRole('searchbox').fill('no such word');
  t.same(await shownRules(page), []);
  await page.emulateMedia({ media: 'print' });
  t.same(await shownRules(page), ALL);
  t.ok(await page.locator('#rule-err\\.method').getByText('405 method_not_allowed').isVisible(), 'what is folded');
  t.notOk(await page.getByRole('searchbox').isVisible(), 'no controls');
  t.ok((await page.pdf()).length > 1000);
  await page.emulateMedia({ media: 'screen' });
  t.same(await shownRules(page), [], 'and afterwards it is as it was');
});

t.test('text sent by a target never becomes markup, a script or a request', { skip }, async (t) => {
  const target = { base_url: 'http://x/"><script>1</script>', git_url: '<b>', org: '<i>', emulator: false };
  const rules = [
    hostileResult(),
    resultOf('pass', '"><script>document.title=2</script>'),
    resultOf('pass', 'rule.pass'),
  ];
  await using opened = await open(t, reportWith(rules, { target }));
  const { page } = opened;
  t.equal(await page.title(), `Conformance of ${target.base_url}`);
  t.same(await page.$$eval('script', (all) => all.length), 1);
  t.same(await page.$$eval('img, b, i', (all) => all.length), 0);
  t.match(await page.locator('.rule').first().textContent(), '</script><script>document.title="owned"');
  t.same(opened.complaints, []);
});

t.test("the content security policy allows only the page's own style and script", { skip }, async (t) => {
  await using opened = await open(t, REPORT);
  const { page } = opened;
  await page.evaluate(`
    const script = document.createElement('script');
    script.textContent = 'document.title = "owned"';
    const image = document.createElement('img');
    image.src = 'http://127.0.0.1:1/x';
    document.body.append(script, image);
  `);
  t.equal(await page.title(), 'Conformance of http://127.0.0.1:1');
  t.ok(
    opened.complaints.some((one) => one.includes('Content Security Policy')),
    'the browser refused it',
  );
});

t.test('every linked anchor exists, and every id is unique', async (t) => {
  const text = html(REPORT);
  const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
  t.equal(new Set(ids).size, ids.length);
  for (const [, anchor = ''] of text.matchAll(/ href="#([^"]*)"/g))
    t.ok(ids.includes(decodeURIComponent(anchor)), anchor);
});

t.test('the page shows the result of each profile whose rules are all in the report', async (t) => {
  const rules = allRules().map(({ id, section, reach, writes }) =>
    resultOf(id === 'git.push' ? 'fail' : 'pass', id, { section, reach, read_only: !writes }),
  );
  const text = html(reportWith(rules));
  t.match(text, /<th scope="row">git<\/th><td class="fail">does not conform<\/td><td>(\d+) of \1<\/td>/);
  t.match(text, /<th scope="row">hosting<\/th><td class="pass">conforms<\/td>/);
  t.notMatch(html(REPORT), /Profiles/);
});

t.test('a comparison is a page of the same kind', { skip }, async (t) => {
  const changed = reportWith([hostileResult('warn', 'jwt.typ')], { variants: { 'A01 <b>': '<img src=x>' } });
  await using opened = await open(t, compareHtml(compareReports(REPORT, changed)));
  const { page } = opened;
  t.match(await page.locator('main').textContent(), 'jwt.alg.none');
  t.same(await page.$$eval('img, b', (all) => all.length), 0);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  t.equal(await page.evaluate('document.activeElement.id'), 'main');
  t.same(opened.complaints, []);
});
