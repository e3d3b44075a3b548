import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildOptions } from 'rolldown';
import { packageFile } from '../system/package-root.js';
import { MADE } from './bundles.js';

const SOURCES = packageFile('emulator/page');
const TARGET = `${MADE}page`;

/**
 * Returns the bundler options for the web page of the admin API. The result is ES modules for browsers, with a separate
 * file for each part that the page loads on demand.
 */
export function pageOptions(): BuildOptions {
  return {
    input: { main: join(SOURCES, 'main.tsx') },
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    tsconfig: false,
    logLevel: 'silent',
    output: {
      dir: TARGET,
      format: 'es',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      minify: true,
    },
  };
}

/**
 * Writes the HTML document of the admin page, its icon, and one style sheet. The style sheet begins with `main.css` and
 * continues with all other CSS files. `print.css` is last, so that its rules override the others.
 */
export async function writePageFiles(): Promise<void> {
  for (const file of ['index.html', 'icon.svg']) await cp(join(SOURCES, file), join(TARGET, file));
  const files = (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith('.css'));
  const [first, last] = ['main.css', 'print.css'];
  const inOrder = [first, ...files.filter((name) => name !== first && name !== last).sort(), last];
  const texts = await Promise.all(inOrder.map((name) => readFile(join(SOURCES, name), 'utf8')));
  await writeFile(join(TARGET, 'main.css'), texts.join('\n'));
}
