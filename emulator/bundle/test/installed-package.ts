import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageFile } from '../../system/package-root.js';

export const run = promisify(execFile);

/** Files and folders of the checkout from which the package is built. */
const MADE_OF = [
  'bin',
  'fixtures',
  'dist/bundle',
  'dist/emulator',
  'package.json',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'conformance/SPECIFICATION.md',
  'conformance/README.md',
  'emulator/README.md',
  'emulator/DECISIONS.md',
  'emulator/docs',
];

const TAKES_NO_PART = /\.(test\.js|map)$/;

/** Project outside the checkout in which only the packed package is installed. */
export interface InstalledPackage {
  readonly project: string;
  /** Path of the packed file. */
  readonly tarball: string;
  /** Paths of the package's files. */
  readonly files: readonly string[];
}

/** Packs the package like `npm pack` after a build. Installs the resulting file without network access. */
export async function installPackage(folder: string): Promise<InstalledPackage> {
  const [checkout, project] = [join(folder, 'checkout'), join(folder, 'project')];
  for (const path of MADE_OF) {
    await mkdir(dirname(join(checkout, path)), { recursive: true });
    const filter = (source: string) => !TAKES_NO_PART.test(source);
    await cp(packageFile(path), join(checkout, path), { recursive: true, filter });
  }
  await symlink(packageFile('node_modules'), join(checkout, 'node_modules'));
  const manifest = (word: string) =>
    run(process.execPath, [join(checkout, 'dist/emulator/bundle/published-manifest.js'), word]);
  await manifest('publish');
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: checkout });
  await manifest('restore');
  const [packed] = Object.values(JSON.parse(stdout)) as { filename: string; files: { path: string }[] }[];
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "name": "project", "private": true }\n');
  const install = ['install', '--save-dev', '--offline', '--no-audit', '--no-fund', '--foreground-scripts'];
  const tarball = join(checkout, packed!.filename);
  await run('npm', [...install, tarball], { cwd: project });
  return { project, tarball, files: packed!.files.map(({ path }) => path) };
}

/** Returns the total size in bytes and the number of the packages that an install added. */
export async function sizeOf(project: string): Promise<{ readonly bytes: number; readonly packages: number }> {
  const names = await readdir(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as { packages: object };
  return { bytes: sizes.reduce((sum, one) => sum + one, 0), packages: Object.keys(lock.packages).length - 1 };
}
