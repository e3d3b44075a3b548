import { join } from 'node:path';
import t from 'tap';
import { run, startTargetEmulator } from '../index.js';
import { expectLegal } from './legal/expect-right.js';
import { alternateValues } from './legal/variants.js';

/** What a server chooses, at every second point. That all are otherwise is seen where a recording sets the emulator. */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'every second one from the first': alternateValues(0),
  'every second one from the second': alternateValues(1),
};

for (const [choice, values] of Object.entries(CHOICES)) {
  t.test(`a server that chooses otherwise than the emulator: ${choice}`, async (t) => {
    const file = join(t.testdir({ 'variants.json': JSON.stringify(values) }), 'variants.json');
    const other = await startTargetEmulator('--variants', file);
    t.teardown(() => other.close());
    expectLegal(t, await run(other.target));
  });
}
