import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { packageFile } from '../system/package-root.js';

/*
 * Script for npm's `prepack` (argument `publish`) and `postpack` (argument `restore`). While npm packs the package, a
 * shortened package.json replaces the complete one. It lacks the members that only developers of the package need.
 * Otherwise npm would tell every user that the package has the install script `prepare`.
 *
 *     node dist/emulator/bundle/published-manifest.js publish|restore
 */
const MANIFEST = packageFile('package.json');
const KEPT = packageFile('dist', 'package.json.kept');
const DEVELOPMENT: readonly string[] = ['scripts', 'devDependencies', 'overrides'];

if (process.argv[2] === 'publish') publish();
else restore();

function publish(): void {
  // Restore package.json first, because an earlier run may have been interrupted. Without this, the shortened
  // package.json would overwrite the saved complete file.
  restore();
  const text = readFileSync(MANIFEST, 'utf8');
  writeFileSync(KEPT, text);
  const members = Object.entries(JSON.parse(text) as object).filter(([name]) => !DEVELOPMENT.includes(name));
  writeFileSync(MANIFEST, `${JSON.stringify(Object.fromEntries(members), undefined, 2)}\n`);
}

function restore(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}
