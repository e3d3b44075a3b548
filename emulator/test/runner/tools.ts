import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Program that tests start, such as git. */
interface Tool {
  /** Name of the program in `// needs:` comments of test files, such as `// needs: git, curl`. */
  readonly name: string;
  readonly isInstalled: () => boolean;
  /** Name of the Debian package that contains the program. */
  readonly debian: string;
}

const runs = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

export const TOOLS: readonly Tool[] = [
  { name: 'git', isInstalled: () => runs('git', '--version'), debian: 'git' },
  { name: 'git-lfs', isInstalled: () => runs('git-lfs', '--version'), debian: 'git-lfs' },
  {
    name: 'chromium',
    isInstalled: () => runs('chromium-headless-shell', '--version') || runs('chromium', '--version'),
    debian: 'chromium-headless-shell',
  },
  { name: 'python3', isInstalled: () => runs('python3', '--version'), debian: 'python3' },
  { name: 'curl', isInstalled: () => runs('curl', '--version'), debian: 'curl' },
  { name: 'tar', isInstalled: () => runs('tar', '--version'), debian: 'tar' },
];

/** Returns the required programs that are not installed. */
export function missingTools(): Tool[] {
  return TOOLS.filter(({ isInstalled }) => !isInstalled());
}

const NEEDS = /^\/\/ needs: (.+)$/gm;
const IMPORT = /(?:from|import) '(\.{1,2}\/[^']+\.js)'/g;

/** Returns the path of the source of a compiled file below `dist/`. */
export function sourceOf(file: string): string {
  return file.replace(/\/dist\/(.*)\.js$/, '/$1.ts');
}

/**
 * Returns the names of all programs that a compiled test file needs. They are declared in `// needs:` comments of the
 * file and of the test modules that it imports.
 */
export function toolsOf(file: string, seen = new Set<string>()): Set<string> {
  const names = new Set<string>();
  if (seen.has(file) || !existsSync(file)) return names;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  // Read the comments from the source. The compiler drops comments next to code that it removes, such as an interface.
  const source = readFileSync(sourceOf(file), 'utf8');
  for (const [, list = ''] of source.matchAll(NEEDS)) for (const name of list.split(', ')) names.add(name);
  for (const [, path = ''] of text.matchAll(IMPORT)) {
    const imported = join(dirname(file), path);
    if (!/\/test\//.test(imported)) continue;
    for (const name of toolsOf(imported, seen)) names.add(name);
  }
  return names;
}
