import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { conformance } from '../test/deployment.js';
import { matrixHtml, matrixMarkdown, matrixOf } from './matrix.js';
import { HOSTILE, reportWith, resultOf } from './test/sample-report.js';

const first = reportWith([resultOf('pass', 'a.b'), resultOf('pass', 'a.c', { says: HOSTILE })]);
const second = reportWith([resultOf('pass', 'a.c'), resultOf('warn', 'a.d', { section: 'Limits' })]);
const third = reportWith([resultOf('fail', 'a.b'), resultOf('pass', 'a.c')], {
  started_at: '2026-02-03T00:00:00.000Z',
});

t.test('a matrix has a column for each result, and marks changed verdicts', async (t) => {
  const matrix = matrixOf([first, second, third]);
  t.equal(matrix.columns.length, 3);
  t.equal(matrix.changes, 1);
  const cells = Object.fromEntries(matrix.sections.flatMap(({ rules }) => rules.map((rule) => [rule.id, rule.cells])));
  t.same(cells, {
    'a.b': [{ verdict: 'pass' }, {}, { verdict: 'fail', was: 'pass' }],
    'a.c': [{ verdict: 'pass' }, { verdict: 'pass' }, { verdict: 'pass' }],
    'a.d': [{}, { verdict: 'warn' }, {}],
  });
  const text = matrixMarkdown(matrix);
  t.match(text, '| `a.b` | ✓ pass |  | **✗ fail (was pass)** |');
  t.match(text, '| **Errors** | 2 pass | 1 pass | 1 fail, 1 pass |'.replace('1 fail, 1 pass', '1 pass, 1 fail'));
  t.match(text, '(demo), 2026-02-03');
  const html = matrixHtml(matrix);
  t.match(html, '<td><mark>✗ fail (was pass)</mark></td>');
  t.notMatch(html, '<img src');
});

t.test('conformance matrix reads results', async (t) => {
  const folder = t.testdir({});
  const files = [first, second, third].map((report, at) => {
    const file = join(folder, `${at}.json`);
    writeFileSync(file, JSON.stringify(report));
    return file;
  });
  const { code, out } = await conformance('matrix', ...files);
  t.equal(code, 0);
  t.match(out, '3 results; 1 verdict changed from one result to the next.');
  const json = await conformance('matrix', ...files, '--reporter', 'json');
  t.equal(JSON.parse(json.out).changes, 1);
  t.equal((await conformance('matrix', join(folder, 'absent.json'))).code, 2);
});
