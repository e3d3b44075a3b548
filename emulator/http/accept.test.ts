import t from 'tap';
import { accepts } from './accept.js';

t.test('a media type is allowed by the most specific range that covers it', async (t) => {
  const rows: [string | undefined, boolean][] = [
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['application/*', true],
    ['application/vnd.x+json', true],
    ['Application/VND.x+JSON; charset=utf-8', true],
    ['text/html, application/vnd.x+json;q=0.1', true],
    ['text/html', false],
    ['text/*', false],
    ['application/json', false],
    ['application/vnd.x+json;q=0', false],
    ['*/*, application/vnd.x+json; q=0.000', false],
    ['application/vnd.x+json;q=0, */*', false],
    ['application/*;q=0, */*;q=1', false],
    ['*/*;q=0, application/vnd.x+json', true],
    [',,;q=0,', false],
  ];
  for (const [header, expected] of rows) t.equal(accepts(header, 'application/vnd.x+json'), expected, String(header));
});
