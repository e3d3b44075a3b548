import type { CommandModule } from 'yargs';
import { variantRows } from '../variants.js';
import type { Session } from './session.js';

/** `emulator variants`: what the specification leaves open, and what each choice is called. */
export function variantsCommand({ terminal }: Session): CommandModule<object, { json: boolean }> {
  return {
    command: 'variants',
    describe: 'List what the specification leaves open; set by `start --variants FILE`',
    builder: (command) => command.option('json', { type: 'boolean', default: false, describe: 'As JSON' }),
    handler: ({ json }) => {
      const rows = variantRows();
      if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
      for (const { name, values, about } of rows) {
        const [standard, ...others] = values;
        terminal.print(`${name}: ${standard} (default), ${others.join(', ')}\n    ${about}\n`);
      }
    },
  };
}
