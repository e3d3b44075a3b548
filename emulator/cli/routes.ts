import { defineCommand } from './command.js';
import { writeTable } from './table.js';

/** `emulator routes`: every operation, its routes and the scopes it needs. */
export const routesCommand = defineCommand({
  name: 'routes',
  describe: 'List every route with its operation and scopes',
  flags: { json: { describe: 'As JSON' }, markdown: { describe: 'As the table of the README' } },
  exclusive: [['json', 'markdown']],
  run: async ({ json, markdown }, { terminal }) => {
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
});
