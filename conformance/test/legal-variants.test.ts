import { join } from 'node:path';
import t from 'tap';
import { run, startEmulator } from '../index.js';
import { expectLegal } from './legal/expect-right.js';
import { alternateValues, otherValues, variants } from './legal/variants.js';

const most = Math.max(...variants.map(({ values }) => values.length));

/** What a server chooses: all otherwise than the emulator, or every second point. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...Object.fromEntries(Array.from({ length: most - 1 }, (_, at) => [`other value ${at + 1}`, otherValues(at + 1)])),
  'every second one from the first': alternateValues(0),
  'every second one from the second': alternateValues(1),
};

for (const [choice, values] of Object.entries(CHOICES)) {
  t.test(`a server that chooses otherwise than the emulator: ${choice}`, async (t) => {
    const file = join(t.testdir({ 'variants.json': JSON.stringify(values) }), 'variants.json');
    const other = await startEmulator('--variants', file);
    t.teardown(() => other.stop());
    expectLegal(t, await run(other.target));
  });
}
