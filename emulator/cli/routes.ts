import type { CommandModule } from 'yargs';
import type { Session } from './session.js';
import { writeTable } from './table.js';

/** `emulator routes`: every operation, its routes and the scopes it needs. */
export function routesCommand({ terminal }: Session): CommandModule<object, { json: boolean; markdown: boolean }> {
  return {
    command: 'routes',
    describe: 'List every route with its operation and scopes',
    builder: (command) =>
      command
        .option('json', { type: 'boolean', default: false, describe: 'As JSON' })
        .option('markdown', { type: 'boolean', default: false, describe: 'As the table of the README' }),
    handler: async ({ json, markdown }) => {
      const { operations } = await import('../api/index.js');
      if (markdown) {
        const { writeRouteTable } = await import('../api/route-table.js');
        return terminal.print(writeRouteTable(operations));
      }
      const rows = operations.flatMap(({ id, group, summary, scopes, routes }) =>
        routes.map(({ method, path }) => ({ method, path, operation: id, group, scopes, summary })),
      );
      if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
      const table = rows.map((row) => [row.method, row.path, row.operation, row.scopes.join(','), row.summary]);
      terminal.print(writeTable([['METHOD', 'PATH', 'OPERATION', 'SCOPES', 'SUMMARY'], ...table]));
    },
  };
}
