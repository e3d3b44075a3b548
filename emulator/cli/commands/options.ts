import { optionRows } from '../../config/options.js';
import { defineCommand } from '../command.js';
import { code, writeMarkdownTable, writeTable } from '../table.js';

/**
 * Command `emulator options`: lists the options of an emulator with their names on the command line, in the
 * environment, and in the library.
 */
export const optionsCommand = defineCommand({
  name: 'options',
  describe: 'List the options and limits of `start` with their environment variables and defaults',
  flags: {
    json: { describe: 'Print the list as JSON' },
    markdown: { describe: 'Print the Markdown table of the reference documentation' },
  },
  exclusive: [['json', 'markdown']],
  run: ({ json, markdown }, { terminal }) => {
    const rows = optionRows().map(({ name, flag, variable, value, shownDefault, help, repeatable, isLimit }) => {
      return { name, flag: `--${flag}`, variable, value, default: shownDefault, repeatable, limit: isLimit, help };
    });
    if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
    if (markdown) {
      const cells = rows.map((row) => [
        code(`${row.flag} ${row.value}`.trim()) + (row.repeatable ? ', repeatable' : ''),
        code(row.variable),
        code(row.limit ? `limits.${row.name}` : row.name),
        code(row.default),
        row.help,
      ]);
      return terminal.print(writeMarkdownTable([['Flag', 'Variable', 'Library', 'Default', 'What'], ...cells]));
    }
    const table = rows.map((row) => [`${row.flag} ${row.value}`.trim(), row.variable, row.default, row.help]);
    terminal.print(writeTable([['FLAG', 'VARIABLE', 'DEFAULT', 'WHAT'], ...table]));
  },
});
