import t from 'tap';
import { run } from '../index.js';
import { expectLegal } from './legal/expect-right.js';
import { alternateValues } from './legal/variants.js';
import { sample } from './sample.js';
import { startNamespace } from './shared-emulator.js';

/**
 * Two settings of the emulator's variants (switches between legal behaviours), name to value. Each setting changes
 * every second variant. Another test changes all variants at once.
 */
const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'every second one from the first': alternateValues(0),
  'every second one from the second': alternateValues(1),
};

for (const [choice, values] of sample(t, Object.entries(CHOICES), 1)) {
  t.test(`a server that chooses otherwise than the emulator: ${choice}`, async (t) => {
    expectLegal(t, await run(await startNamespace(t, { variants: values })));
  });
}
