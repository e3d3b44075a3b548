import { defineCommand } from '../command.js';
import { code, writeMarkdownTable, writeTable } from '../table.js';

/**
 * Command `emulator routes`: lists every operation of the service, with its routes and the scopes (permissions) that it
 * requires.
 */
export const routesCommand = defineCommand({
  name: 'routes',
  describe: 'List every route of the HTTP API, with its operation and the scopes that a token needs',
  flags: {
    json: { describe: 'Print the list as JSON' },
    markdown: { describe: 'Print the Markdown table of the reference documentation' },
  },
  exclusive: [['json', 'markdown']],
  run: async ({ json, markdown }, { terminal }) => {
    const { operations } = await import('../../api/index.js');
    if (markdown) {
      const cells = operations.map(({ id, summary, routes, scopes }) => {
        const [preferred = '', ...aliases] = routes.map(({ method, path }) => code(`${method} ${path}`));
        return [summary, code(id), preferred, aliases.join('<br>') || '–', scopes.join(', ') || '–'];
      });
      return terminal.print(writeMarkdownTable([['Operation', 'Id', 'Route', 'Aliases', 'Scopes'], ...cells]));
    }
    const rows = operations.flatMap(({ id, group, summary, scopes, routes }) =>
      routes.map(({ method, path }) => ({ method, path, operation: id, group, scopes, summary })),
    );
    if (json) return terminal.print(`${JSON.stringify(rows, undefined, 2)}\n`);
    const table = rows.map((row) => [row.method, row.path, row.operation, row.scopes.join(','), row.summary]);
    terminal.print(writeTable([['METHOD', 'PATH', 'OPERATION', 'SCOPES', 'SUMMARY'], ...table]));
  },
});
