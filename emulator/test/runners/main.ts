import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLIENT_RUNS, filesOf, installProject, mistakesOf, ROOT, RUNNER_PROJECTS, run } from './projects.js';

/*
 * npm run test:runners [-- name …]
 *
 * Packs this package, installs it in a copy of each project in this folder, and runs the project's tests. Needs the npm
 * registry.
 */
const wanted = process.argv.slice(2);
const scratch = await mkdtemp(join(tmpdir(), 'runners-'));
let failed = 0;
try {
  const packed = await run(ROOT, ['npm', 'pack', '--ignore-scripts', '--pack-destination', scratch]);
  const tarball = (await readdir(scratch)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error(`npm pack ended with ${packed.code}:\n${packed.said}`);
  console.log(`packed ${tarball}`);
  const runs = [
    ...RUNNER_PROJECTS.flatMap((project) => filesOf(project).map((row) => [project, row] as const)),
    ...CLIENT_RUNS,
  ];
  const installed = new Set<string>();
  for (const [project, row] of runs) {
    if (wanted.length > 0 && !wanted.some((name) => name === project.name || name === project.instead)) continue;
    const title = project.instead ?? project.name;
    const folder = join(scratch, title);
    if (!installed.has(folder)) await installProject(project, folder, join(scratch, tarball));
    installed.add(folder);
    const mistakes = await mistakesOf(project, folder, row);
    const words = [mistakes.length === 0 ? 'ok' : 'not ok', title, ...(row.args ?? []), row.file];
    console.log(words.join(' '));
    for (const mistake of mistakes) console.log(`  ${mistake}`);
    failed += mistakes.length === 0 ? 0 : 1;
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
console.log(
  failed === 0 ? 'Every runner gets from the package to its tests.' : `${failed} files are not as they should be.`,
);
process.exitCode = failed === 0 ? 0 : 1;
