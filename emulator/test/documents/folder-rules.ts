import type { Folder, Program } from './folders.js';

const TESTS = ['!**/*.test.ts', '!**/test/**'];

/**
 * Returns the relative path for imports from the folder `from` to the folder `to`. The importing file is `depth`
 * folders below `from`.
 */
function relativePattern(from: string, to: string, depth: number): string {
  const steps = from.split('/').length + depth;
  const group = from.includes('/') ? `${from.split('/')[0]}/` : undefined;
  // Biome compares import paths as they are written. Imports between folders of git/ do not contain "git/", so the
  // pattern must omit it.
  if (group !== undefined && to.startsWith(group)) return `${'../'.repeat(steps - 1)}${to.slice(group.length)}`;
  return `${'../'.repeat(steps)}${to}`;
}

function sentence({ path, imports = [] }: Folder): string {
  return imports.length === 0
    ? `${path}/ imports no other folder.`
    : `${path}/ imports ${imports.join(', ')} and nothing else.`;
}

/**
 * Returns the Biome rule that refuses forbidden imports. It applies to files that are `depth` folders below the given
 * folder.
 */
function restriction(folder: Folder, depth: number): object {
  const { path, imports = [] } = folder;
  const allowed = imports.map((to) => {
    const pattern = relativePattern(path, to, depth);
    return to.endsWith('.js') ? `!${pattern}` : `!${pattern}/**`;
  });
  const group = [`${'../'.repeat(depth + 1)}**`, ...allowed];
  return override([`${path}/${'*/'.repeat(depth)}**`, ...TESTS], sentence(folder), group);
}

function override(includes: readonly string[], message: string, group: readonly string[]): object {
  const options = { patterns: [{ message, group }] };
  return { includes, linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } } };
}

/** Returns Biome's configuration for a program. Each folder with restricted imports has its own override. */
export function biomeConfiguration(program: Program): string {
  const overrides = [override(['**'], program.never.reason, [program.never.group])];
  for (const folder of program.folders) {
    if (folder.imports === undefined) continue;
    overrides.push(restriction(folder, 0));
    if (folder.isNested) overrides.push(restriction(folder, 1));
  }
  const schema = '../node_modules/@biomejs/biome/configuration_schema.json';
  return `${JSON.stringify({ $schema: schema, root: false, extends: '//', overrides }, undefined, 2)}\n`;
}

/** Returns the folders of a program and their allowed imports, as a Markdown table for CONTRIBUTING.md. */
export function folderTable(program: Program): string {
  const rows = program.folders.map(({ path, content, imports }) => {
    const allowed = imports === undefined ? '' : imports.length === 0 ? 'nothing' : imports.join(', ');
    return `| \`${path}/\` | ${content} | ${allowed} |`;
  });
  return ['| Folder | Content | May import |', '| --- | --- | --- |', ...rows, ''].join('\n');
}
