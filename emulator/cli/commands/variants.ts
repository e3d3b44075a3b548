import { variantRows } from '../../config/variants.js';
import { defineCommand } from '../command.js';
import { code, writeMarkdownTable } from '../table.js';

/** Command `emulator variants`: lists the behaviors that the specification leaves open, and the choices for each. */
export const variantsCommand = defineCommand({
  name: 'variants',
  describe: 'List the variants: choices where the specification is open, which `start --variants FILE` sets',
  flags: {
    json: { describe: 'Print the list as JSON' },
    markdown: { describe: 'Print the Markdown table of the reference documentation' },
  },
  exclusive: [['json', 'markdown']],
  run: ({ json, markdown }, { terminal }) => {
    const rows = variantRows();
    if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
    if (markdown) {
      const cells = rows.map(({ name, values, about }) => [code(name), values.map(code).join(', '), about]);
      return terminal.print(writeMarkdownTable([['Switch', 'Values, default first', 'Description'], ...cells]));
    }
    for (const { name, values, about } of rows) {
      const [standard, ...others] = values;
      terminal.print(`${name}: ${standard} (default), ${others.join(', ')}\n    ${about}\n`);
    }
  },
});
