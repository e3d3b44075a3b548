import { rm, writeFile } from 'node:fs/promises';
import { build } from 'rolldown';
import { BUNDLED, BUNDLES, bundleOptions, declarationOptions, MADE, RUNNER_MODULES, runnerOptions } from './bundles.js';
import { pageOptions, writePageFiles } from './page-bundle.js';
import { replaceFolder } from './replace-folder.js';
import { bundledPackages, writeNotice } from './third-party.js';

/*
 * First step of `npm run bundle`. Builds all shipped files in `dist`, including the licences of the bundled packages.
 */
await rm(MADE, { recursive: true, force: true });
const outputs = await Promise.all(
  [...BUNDLES.map(bundleOptions), runnerOptions(), pageOptions(), declarationOptions()].map((one) => build(one)),
);
await writePageFiles();
// Mark the types as CommonJS, like the bundles. Both CommonJS and ES modules can import CommonJS.
await writeFile(`${MADE}types/package.json`, '{ "type": "commonjs" }\n');
// Write declarations for ES modules too. The modules for test runners exist in both forms.
for (const name of Object.keys(RUNNER_MODULES)) {
  await writeFile(`${MADE}types/${name}.d.mts`, `export * from './${name}.js';\n`);
}
await writeFile(`${MADE}THIRD-PARTY.txt`, writeNotice(bundledPackages(outputs)));
await replaceFolder(BUNDLED, MADE);
