import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { packageFile } from '../system/package-root.js';

/*
 * npm scripts `prepack` (`publish`) and `postpack` (`restore`). While npm packs the package, package.json is replaced
 * by a version without the members that only developers of the package need. Otherwise npm would tell every user that
 * the package has the install script `prepare`.
 *
 *     node dist/emulator/bundle/published-manifest.js publish|restore
 */
const MANIFEST = packageFile('package.json');
const KEPT = packageFile('dist', 'package.json.kept');
const DEVELOPMENT: readonly string[] = ['scripts', 'devDependencies', 'overrides'];

if (process.argv[2] === 'publish') publish();
else restore();

function publish(): void {
  // Restore package.json first, in case an earlier run was interrupted. Otherwise the shortened package.json would
  // overwrite the saved complete file.
  restore();
  const text = readFileSync(MANIFEST, 'utf8');
  writeFileSync(KEPT, text);
  const members = Object.entries(JSON.parse(text) as object).filter(([name]) => !DEVELOPMENT.includes(name));
  writeFileSync(MANIFEST, `${JSON.stringify(Object.fromEntries(members), undefined, 2)}\n`);
}

function restore(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}
