import { variantRows } from '../../config/variants.js';
import { defineCommand } from '../command.js';
import { code, writeMarkdownTable } from '../table.js';

/** `emulator variants`: lists what the specification leaves open, and the names of the choices. */
export const variantsCommand = defineCommand({
  name: 'variants',
  describe: 'List what the specification leaves open; set by `start --variants FILE`',
  flags: { json: { describe: 'As JSON' }, markdown: { describe: 'As the table of the guide' } },
  exclusive: [['json', 'markdown']],
  run: ({ json, markdown }, { terminal }) => {
    const rows = variantRows();
    if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
    if (markdown) {
      const cells = rows.map(({ name, values, about }) => [code(name), values.map(code).join(', '), about]);
      return terminal.print(writeMarkdownTable([['Switch', 'Values, default first', 'What it is about'], ...cells]));
    }
    for (const { name, values, about } of rows) {
      const [standard, ...others] = values;
      terminal.print(`${name}: ${standard} (default), ${others.join(', ')}\n    ${about}\n`);
    }
  },
});
