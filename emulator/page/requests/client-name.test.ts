import t from 'tap';
import { clientName } from './client-name.js';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)';

t.test('the short name of a client is its first product, and of a browser its name and version', async (t) => {
  for (const [userAgent, name] of [
    ['git/2.39.5', 'git/2.39.5'],
    ['git/2.50.1 (Apple Git-155)', 'git/2.50.1'],
    ['git-lfs/3.3.0(GitHub; linux amd64; go 1.19.8)', 'git-lfs/3.3.0'],
    ['node', 'node'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox/128'],
    [`${CHROME} HeadlessChrome/120.0.0.0 Safari/537.36`, 'Chrome/120'],
    [`${CHROME} Chrome/120.0.0.0 Safari/537.36 Edg/121.0.2277.83`, 'Edge/121'],
    ['Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15', 'Safari/17'],
    ['Mozilla/5.0 (compatible; crawler)', 'Mozilla/5.0'],
    ['(comment only)', '(comment only)'],
    ['', ''],
  ] as const) {
    t.equal(clientName(userAgent), name, userAgent);
  }
});
