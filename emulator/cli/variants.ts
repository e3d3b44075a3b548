import { variantRows } from '../config/variants.js';
import { defineCommand } from './command.js';

/** `emulator variants`: what the specification leaves open, and what each choice is called. */
export const variantsCommand = defineCommand({
  name: 'variants',
  describe: 'List what the specification leaves open; set by `start --variants FILE`',
  flags: { json: { describe: 'As JSON' } },
  run: ({ json }, { terminal }) => {
    const rows = variantRows();
    if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
    for (const { name, values, about } of rows) {
      const [standard, ...others] = values;
      terminal.print(`${name}: ${standard} (default), ${others.join(', ')}\n    ${about}\n`);
    }
  },
});
