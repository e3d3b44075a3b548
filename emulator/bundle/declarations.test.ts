import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { packageFile } from '../environment/package-root.js';
import { installPackage, run } from './test/installed-package.js';

const TSC = packageFile('node_modules/typescript/bin/tsc');
const STRICT = {
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  types: ['node'],
};

const MODULE = `import { startEmulator, type Emulator } from 'repohost-emulator';
import { run, readKey, type Report, type Target } from 'repohost-emulator/conformance';

export const emulator: Emulator = await startEmulator({ port: 0, org: ['demo'] });
export const token: string = await emulator.token({ scopes: ['git:read'], repo: 'app' });
export async function check(target: Target): Promise<Report> {
  return run({ ...target, key: await readKey('key.pem') }, { only: 'grep' });
}
// @ts-expect-error -- a port is a number
await startEmulator({ port: {} });
`;
const COMMONJS = `import repohost = require('repohost-emulator');
import suite = require('repohost-emulator/conformance');
export = async (): Promise<readonly string[]> => {
  const emulator: repohost.Emulator = await repohost.startEmulator();
  return [emulator.baseUrl, ...suite.allRules().map(({ id }) => id)];
};
`;

const { project } = await installPackage(t.testdir({}));
await mkdir(join(project, 'node_modules/@types'));
await symlink(packageFile('node_modules/@types/node'), join(project, 'node_modules/@types/node'));
await writeFile(join(project, 'main.mts'), MODULE);
await writeFile(join(project, 'main.cts'), COMMONJS);

for (const [resolution, options, files] of [
  ['node16', { module: 'node16', moduleResolution: 'node16' }, ['main.mts', 'main.cts']],
  ['bundler', { module: 'esnext', moduleResolution: 'bundler' }, ['main.mts']],
] as const) {
  t.test(`a strict project compiles with ${resolution} resolution`, async (t) => {
    const config = join(project, `tsconfig.${resolution}.json`);
    await writeFile(config, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files }));
    const said = await run(process.execPath, [TSC, '-p', config], { cwd: project }).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
    t.equal(said, '');
  });
}
