import { rm, writeFile } from 'node:fs/promises';
import { build } from 'rolldown';
import { BUNDLED, BUNDLES, bundleOptions, declarationOptions, MADE, RUNNER_MODULES, runnerOptions } from './bundles.js';
import { pageOptions, writePageFiles } from './page-bundle.js';
import { replaceFolder } from './replace-folder.js';
import { bundledPackages, writeNotice } from './third-party.js';

/*
 * The first step of `npm run bundle`: everything of `dist` that is shipped, and the licences of the packages in it.
 */
await rm(MADE, { recursive: true, force: true });
const outputs = await Promise.all(
  [...BUNDLES.map(bundleOptions), runnerOptions(), pageOptions(), declarationOptions()].map((one) => build(one)),
);
await writePageFiles();
// The bundles are CommonJS, and so are their types: an importer of either kind may read them.
await writeFile(`${MADE}types/package.json`, '{ "type": "commonjs" }\n');
// The runners' modules are ES modules as well, and so are their types, by the same declarations.
for (const name of Object.keys(RUNNER_MODULES)) {
  await writeFile(`${MADE}types/${name}.d.mts`, `export * from './${name}.js';\n`);
}
await writeFile(`${MADE}THIRD-PARTY.txt`, writeNotice(bundledPackages(outputs)));
await replaceFolder(BUNDLED, MADE);
