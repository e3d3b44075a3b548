import { join } from 'node:path';
import t from 'tap';
import { run, startEmulator } from '../index.js';
import { expectLegal } from './legal/expect-right.js';
import { otherValues, variants } from './legal/variants.js';

const most = Math.max(...variants.map(({ values }) => values.length));

for (let number = 1; number < most; number++) {
  t.test(`a server that chooses otherwise wherever it may, by value ${number}`, async (t) => {
    const file = join(t.testdir({ 'variants.json': JSON.stringify(otherValues(number)) }), 'variants.json');
    const other = await startEmulator('--variants', file);
    t.teardown(() => other.stop());
    expectLegal(t, await run(other.target));
  });
}
