import type { Folder, Program } from './folders.js';

const TESTS = ['!**/*.test.ts', '!**/test/**'];

/**
 * Returns the relative path with which a file that is `depth` folders below the folder `from` imports modules of the
 * folder `to`.
 */
function relativePattern(from: string, to: string, depth: number): string {
  const steps = from.split('/').length + depth;
  const group = from.includes('/') ? `${from.split('/')[0]}/` : undefined;
  // Imports between folders in git/ do not contain "git/", and Biome compares the import path as it is written. The
  // pattern must therefore omit it.
  if (group !== undefined && to.startsWith(group)) return `${'../'.repeat(steps - 1)}${to.slice(group.length)}`;
  return `${'../'.repeat(steps)}${to}`;
}

function sentence({ path, imports = [] }: Folder): string {
  return imports.length === 0
    ? `${path}/ imports no other folder.`
    : `${path}/ imports ${imports.join(', ')} and nothing else.`;
}

/**
 * Returns the rule with which Biome refuses forbidden imports in files that are `depth` folders below a folder of the
 * program.
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

/** Returns Biome's configuration for a program. It has one override for each folder whose imports are restricted. */
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

/** Returns the folders of a program, with their allowed imports, as a Markdown table for CONTRIBUTING.md. */
export function folderTable(program: Program): string {
  const rows = program.folders.map(({ path, content, imports }) => {
    const allowed = imports === undefined ? '' : imports.length === 0 ? 'nothing' : imports.join(', ');
    return `| \`${path}/\` | ${content} | ${allowed} |`;
  });
  return ['| Folder | Content | May import |', '| --- | --- | --- |', ...rows, ''].join('\n');
}
