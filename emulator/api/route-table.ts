import type { Route } from '../http/route.js';
import type { Operation } from '../operation/operation.js';

/** The operations as a Markdown table: what the README shows, and a test compares. */
export function writeRouteTable(operations: readonly Operation[]): string {
  const rows = operations.map((operation) => {
    const [preferred, ...aliases] = operation.routes.map(showRoute);
    return [operation.summary, preferred!, aliases.join('<br>') || '–', operation.scopes.join(', ') || '–'];
  });
  const lines = [['Operation', 'Route', 'Aliases', 'Scopes'], ['---', '---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function showRoute({ method, path }: Route): string {
  return `\`${method} ${path}\``;
}
