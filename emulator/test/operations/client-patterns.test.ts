import t from 'tap';
import { startService } from '../service.js';

const REPO = 'team/app';

t.test('the pages of a search contain every context line once, wherever a page ends', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const lines = Array.from({ length: 300 }, (_, line) =>
    line % 17 === 0 || line % 40 < 2 ? `hit ${line}` : `${line}`,
  );
  await service.seed(REPO, {
    'a.txt': `${lines.join('\n')}\n`,
    'b.txt': 'hit\nx\n',
    'c.txt': `x\n${lines.join('\n')}`,
  });
  const pages = async (limits: object, limit?: number) => {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const json = {
        query: { pattern: 'hit' },
        context: { before: 3, after: 4 },
        limits,
        pagination: { cursor, limit },
      };
      const { status, json: page } = await service.call('POST', '/api/v1/repos/grep', { json });
      t.equal(status, 200);
      t.equal(page.has_more, page.next_cursor !== null);
      for (const { path, lines } of page.matches) {
        for (const line of lines) found.push(`${path}:${line.line_number}:${line.type}:${line.text}`);
      }
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  };
  const whole = await pages({});
  t.equal(new Set(whole).size, whole.length);
  t.equal(whole.filter((line) => line.includes(':context:')).length > 100, true);
  for (const max_lines of [2, 5, 7, 8, 100]) t.same(await pages({ max_lines }), whole, `${max_lines} lines`);
  for (const max_matches_per_file of [1, 3]) t.same(await pages({ max_matches_per_file }), whole);
  for (const limit of [1, 4, 9]) t.same(await pages({ max_lines: 11, max_matches_per_file: 3 }, limit), whole);
});

t.test('a line of any length is found and returned', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed(REPO, { long: `x\n${'ab'.repeat(3 << 19)}é9\ny\n` });
  for (const pattern of ['(a|b)*é9$', '[ab]{40}é+9$', 'b.9', 'é', '(?i)É\\d']) {
    const { status, json } = await service.call('POST', '/api/v1/repos/grep', { json: { query: { pattern } } });
    t.equal(status, 200, pattern);
    t.equal(json.matches[0].lines[0].line_number, 2);
    t.equal(json.matches[0].lines[0].text.length, (3 << 20) + 2);
  }
});

t.test('the number of blame ranges and the work of their expressions are limited', async (t) => {
  const service = await startService({ limits: { searchTimeout: 1 } });
  t.teardown(() => service.emulator.close());
  await service.seed(REPO, { 'f.txt': 'one\ntwo\nthree\n', long: `x\n${'a'.repeat(3 << 20)}\n` });
  const blame = (path: string, ...ranges: string[]) => {
    const query = ranges.map((range) => `&range=${encodeURIComponent(range)}`).join('');
    return service.call('GET', `/api/v1/repos/blame?path=${path}${query}`);
  };
  t.same(
    (await blame('f.txt', '/tw/,/ee$/')).json.lines.map((line: { line_number: number }) => line.line_number),
    [2, 3],
  );
  for (const range of ['/(a?){900}[0-9]/', '^/(a?){900}[0-9]/', ':(a?){900}[0-9]']) {
    t.equal((await blame('f.txt', range)).status, 400, `${range}: no match`);
    t.equal((await blame('long', range)).status, 504, `${range}: too much work`);
  }
  for (const range of [
    `/${'(a?){999}'.repeat(100)}/`,
    `/${'a'.repeat(1025)}/`,
    `/${'a'.repeat(4096)}/`,
    '/(/',
    '/(?=a)/',
  ]) {
    const { status, json } = await blame('f.txt', range);
    t.equal(status, 400, range.slice(0, 20));
    t.equal(json.status, 400);
  }
  t.equal((await blame('f.txt', ...Array.from({ length: 17 }, () => '1,2'))).status, 400);
});
