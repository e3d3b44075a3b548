import { readFileSync } from 'node:fs';
import t from 'tap';
import { operations } from '../api/index.js';
import { writeRouteTable } from '../api/route-table.js';

// The tests run compiled, from dist/emulator/test.
const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

t.test('the table of operations is the one the router serves', async (t) => {
  const shown = /<!-- routes:[^\n]*-->\n([\s\S]*?)<!-- \/routes -->/.exec(readme)?.[1];
  t.equal(shown?.trim(), writeRouteTable(operations).trim(), 'npx emulator routes --markdown prints it');
});
