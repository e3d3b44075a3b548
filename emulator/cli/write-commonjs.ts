import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type OutputChunk } from 'rolldown';

/*
 * A step of `npm run bundle`: what `require` loads, for runners and programs that have no ES modules. Every entry of
 * package.json that has a `require` is bundled from what its `import` names, with its dependencies, of which some are ES
 * modules only. Its types are those of the `import`.
 */
const MANIFEST = createRequire(import.meta.url).resolve('repohost-emulator/package.json');
const ROOT = dirname(MANIFEST);

/** The runners are loaded from the project that uses them. */
const RUNNERS = ['tap', 'vitest', '@jest/globals'];

interface Entry {
  readonly import: { readonly types: string; readonly default: string };
  readonly require: { readonly types: string; readonly default: string };
}

const { exports } = JSON.parse(await readFile(MANIFEST, 'utf8')) as { exports: Record<string, Entry | string> };
const entries = Object.values(exports).filter((entry): entry is Entry => typeof entry === 'object');
const folder = join(ROOT, dirname(entries[0]!.require.default));

const { output } = await build({
  input: Object.fromEntries(
    entries.map((entry) => [basename(entry.require.default, '.cjs'), join(ROOT, entry.import.default)]),
  ),
  platform: 'node',
  external: RUNNERS,
  logLevel: 'silent',
  output: {
    dir: folder,
    cleanDir: true,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: true,
  },
});

for (const entry of entries) {
  const chunk = output.find(({ fileName }) => fileName === basename(entry.require.default));
  if (chunk?.type === 'chunk') await writeFile(join(ROOT, entry.require.types), await declarationsOf(entry, chunk));
}

/** `import type` of an ES module needs a resolution mode in a CommonJS file; the values are declared one by one. */
async function declarationsOf(entry: Entry, { exports: names, imports }: OutputChunk): Promise<string> {
  const source = join(ROOT, entry.import.default);
  const from = `'${relative(folder, source)}' with { 'resolution-mode': 'import' }`;
  const isLoadable = !imports.some((name) => RUNNERS.includes(name));
  const values = isLoadable ? ((await import(pathToFileURL(source).href)) as object) : {};
  const lines = [`import type * as module from ${from};`, `export type * from ${from};`];
  for (const name of names) {
    lines.push(`export declare const ${name}: typeof module.${name};`);
    if (isClass(Reflect.get(values, name))) lines.push(`export type ${name} = module.${name};`);
  }
  return `${lines.join('\n')}\n`;
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}
