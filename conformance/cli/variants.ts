import { emulatorVariants, UNSEEN_SWITCHES } from '../report/emulator-variants.js';
import { defineCommand } from './command.js';
import { readResult } from './read-result.js';

export const variantsCommand = defineCommand({
  name: 'variants',
  arguments: ['result'],
  describe: 'Print the --variants with which the emulator behaves like the target of a JSON report',
  flags: {
    json: { describe: 'As JSON, with the points that no variant can express, and the reasons' },
  },
  run: async ({ json }, { print, warn }, [file = '']) => {
    const { variants, without } = emulatorVariants(await readResult(file));
    if (json) {
      print(`${JSON.stringify({ variants, without, unseen: UNSEEN_SWITCHES }, null, 2)}\n`);
      return;
    }
    print(`${JSON.stringify(variants, null, 2)}\n`);
    for (const { point, seen, why } of without) warn(`${point}: ${seen}: ${why}\n`);
    for (const [name, why] of Object.entries(UNSEEN_SWITCHES)) warn(`${name} cannot be determined: ${why}\n`);
  },
});
