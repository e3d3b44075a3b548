import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { packageFile } from '../system/package-root.js';

/*
 * `prepack` and `postpack`: while the package is packed, its package.json is the published one, without what is only for
 * a checkout. npm would otherwise tell everybody who installs the file that it has an install script, `prepare`.
 *
 *     node dist/emulator/bundle/published-manifest.js publish|restore
 */
const MANIFEST = packageFile('package.json');
const KEPT = packageFile('dist', 'package.json.kept');
const DEVELOPMENT: readonly string[] = ['scripts', 'devDependencies', 'overrides'];

if (process.argv[2] === 'publish') publish();
else restore();

function publish(): void {
  // What was interrupted is undone first: what is kept is always the whole one.
  restore();
  const text = readFileSync(MANIFEST, 'utf8');
  writeFileSync(KEPT, text);
  const members = Object.entries(JSON.parse(text) as object).filter(([name]) => !DEVELOPMENT.includes(name));
  writeFileSync(MANIFEST, `${JSON.stringify(Object.fromEntries(members), undefined, 2)}\n`);
}

function restore(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}
