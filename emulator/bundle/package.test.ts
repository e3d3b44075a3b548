import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build } from 'rolldown';
import t from 'tap';
import { packageFile } from '../system/package-root.js';
import { BUNDLES, bundleOptions, declarationOptions, runnerOptions } from './bundles.js';
import { pageOptions } from './page-bundle.js';
import { installPackage, run, sizeOf } from './test/installed-package.js';
import { bundledPackages, isPermitted, writeNotice } from './third-party.js';

const MAX_BYTES = 10e6;

/** The npm package may contain only files that match one of these patterns. */
const SHIPPED: readonly RegExp[] = [
  /^(CHANGELOG\.md|LICENSE|README\.md|SECURITY\.md|package\.json)$/,
  /^(conformance|emulator|emulator\/bench|emulator\/git)\/README\.md$/,
  /^emulator\/(DECISIONS|docs\/[\w-]+)\.md$/,
  /^bin\/(conformance\.js|emulator\.js|package\.json)$/,
  /^conformance\/SPECIFICATION\.md$/,
  /^dist\/bundle\/THIRD-PARTY\.txt$/,
  /^dist\/bundle\/[a-z]+\/[\w-]+\.[cm]js(\.v[\w.-]+\.cache)?$/,
  /^dist\/bundle\/page\/(index\.html|icon\.svg|main\.css|[\w-]+\.js)$/,
  /^dist\/bundle\/types\/([\w-]+\.d\.m?ts|package\.json)$/,
  /^fixtures\/[\w-]+\.schema\.json$/,
  /^fixtures\/(conformance-mutants\.tsv|rule-requests\.json)$/,
  /^fixtures\/keys\/([\w-]+(\.pub)?\.pem|keys\.json|README\.md)$/,
  /^fixtures\/scenarios\/[\w-]+\.yaml$/,
];

/**
 * Modules that bundles may import in addition to Node's own. The user installs the test runners. undici tries to load
 * `sqlite`, which may be absent.
 */
const MAY_ASK: readonly string[] = ['sqlite', 'tap', 'vitest', '@jest/globals'];

t.setTimeout(240_000);
const { project, tarball, files } = await installPackage(t.testdir({}));
const installed = join(project, 'node_modules/repohost-emulator');
const command = (name: string) => join(installed, 'bin', `${name}.js`);

t.test('the package contains only the expected files', async (t) => {
  t.same(
    files.filter((file) => !SHIPPED.some((shape) => shape.test(file))),
    [],
  );
  const needed = ['fixtures/scenario.schema.json', 'fixtures/conformance-target.schema.json', 'LICENSE'];
  for (const file of [...needed, 'emulator/README.md', 'emulator/docs/reference.md']) {
    t.ok(files.includes(file), file);
  }
  const { bytes, packages } = await sizeOf(project);
  t.ok(bytes <= MAX_BYTES, `${(bytes / 1e6).toFixed(1)} MB`);
  t.equal(packages, 1);
});

t.test('installing the package runs no script', async (t) => {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
  t.same([manifest.scripts, manifest.dependencies, manifest.devDependencies], [undefined, undefined, undefined]);
  t.equal(lock.packages['node_modules/repohost-emulator'].hasInstallScript, undefined);
});

t.test('bundled files import only each other and modules of Node', (t) => {
  for (const { name } of BUNDLES) {
    const folder = join(installed, 'dist/bundle', name);
    const names = new Set(readdirSync(folder));
    for (const file of [...names].filter((one) => /\.[cm]js$/.test(one))) {
      const source = readFileSync(join(folder, file), 'utf8');
      const asked = [...source.matchAll(/\brequire\(["'`](\.\/|node:)?([^"'`()<>]+)["'`]\)/g)];
      const missing = asked.filter(([, where, what = '']) =>
        where === './' ? !names.has(what) : !isBuiltin(`node:${what}`) && !MAY_ASK.includes(what),
      );
      // Ignore `keygrip`. A message in this bundled package contains the package's name and looks like an import.
      t.same(
        missing.map(([, , what]) => what).filter((what) => what !== 'keygrip'),
        [],
        file,
      );
    }
  }
  t.end();
});

t.test('the licence of every package in a bundle permits it and is shipped', async (t) => {
  const options = [...BUNDLES.map(bundleOptions), runnerOptions(), pageOptions(), declarationOptions()];
  const packages = bundledPackages(await Promise.all(options.map((one) => build({ ...one, write: false }))));
  const notice = await readFile(join(installed, 'dist/bundle/THIRD-PARTY.txt'), 'utf8');
  const names = packages.map(({ name }) => name);
  for (const expected of ['isomorphic-git', 'memfs', 'koa', 'zod', 'yargs']) t.ok(names.includes(expected), expected);
  for (const { name, version, licence, texts } of packages) {
    t.ok(isPermitted(licence), `${name}: ${licence}`);
    t.ok(notice.includes(`\n${name} ${version}\n${licence}\n`), `${name} is named`);
    t.ok(
      texts.every((text) => notice.includes(text)),
      `${name}: its text`,
    );
  }
  t.equal(isPermitted('(MIT OR GPL-3.0) AND ISC'), true);
  t.equal(isPermitted('MIT AND GPL-3.0'), false);
  t.throws(
    () => writeNotice([{ name: 'a', version: '1', licence: 'GPL-3.0', texts: [], author: undefined }]),
    /a \(GPL/,
  );
});

t.test('attw and publint report no issue of the entries and their types', async (t) => {
  for (const [name, ...args] of [['attw'], ['publint', '--strict']]) {
    const linter = run(packageFile('node_modules', '.bin', name!), [...args, tarball]);
    const { code, stdout } = await linter.then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { readonly code: number; readonly stdout: string }) => error,
    );
    t.equal(code, 0, stdout);
  }
});

t.test('the package can be imported from ES modules and CommonJS', async (t) => {
  const uses = `async (emulator, suite) => {
    const one = await emulator.startEmulator({ port: 0 });
    const { status } = await fetch(one.adminUrl + '/health');
    await one.close();
    console.log(status, typeof suite.run, typeof suite.eachRule);
  }`;
  const [first, second] = ['repohost-emulator', 'repohost-emulator/conformance'];
  const required = `(${uses})(require('${first}'), require('${second}'))`;
  const imported = `import { startEmulator } from '${first}'; import { run, eachRule } from '${second}';
    await (${uses})({ startEmulator }, { run, eachRule })`;
  for (const [kind, source] of [['commonjs', required] as const, ['module', imported] as const]) {
    const { stdout } = await run(process.execPath, [`--input-type=${kind}`, '--eval', source], { cwd: project });
    t.equal(stdout, '200 function function\n', kind);
  }
});

t.test('the installed commands work, and the suite checks the installed emulator', async (t) => {
  const version = createRequire(packageFile('package.json'))('./package.json').version;
  t.equal((await run('npx', ['--no-install', 'emulator', '--version'], { cwd: project })).stdout, `${version}\n`);
  for (const name of ['repohost-emulator', 'repohost-conformance']) {
    t.equal((await run('npx', ['--no', '--', name, '--version'], { cwd: project })).stdout, `${version}\n`, name);
  }
  t.match((await run(process.execPath, [command('emulator'), 'scenario', 'ls'])).stdout, /lost-commit/);
  const only = ['--only', 'jwt.alg.none,git.*', '--reporter', 'json', '--quiet'];
  const { stdout } = await run('npx', ['--no-install', 'conformance', 'run', ...only], { cwd: project });
  const { exit_code, counts } = JSON.parse(stdout);
  t.equal(exit_code, 0);
  t.ok(counts.pass > 1, JSON.stringify(counts));
});

t.test('commands write the code that V8 compiled to the cache folder of the user, and nowhere else', async (t) => {
  const listed = async () => (await readdir(installed, { recursive: true })).sort();
  const before = await listed();
  t.same(
    before.filter((name) => name.endsWith('.cache')),
    [`dist/bundle/emulator/cli.cjs.${process.version}-${process.platform}-${process.arch}.cache`],
  );
  const home = t.testdir({ unwritable: {}, 'not-a-folder': '' });
  await chmod(join(home, 'unwritable'), 0o500);
  const environments: Readonly<Record<string, string>>[] = [
    { HOME: '', XDG_CACHE_HOME: '' },
    { HOME: join(home, 'unwritable') },
    { HOME: home, XDG_CACHE_HOME: join(home, 'not-a-folder') },
    { HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' },
  ];
  for (const environment of environments) t.same(await startAndStop(environment), [0, ''], JSON.stringify(environment));
  t.same(await readdir(home), ['not-a-folder', 'unwritable']);

  const cached = join(home, '.cache', 'repohost-emulator');
  const starts = await Promise.all([startAndStop({ HOME: home }), startAndStop({ HOME: home })]);
  t.same(starts, [
    [0, ''],
    [0, ''],
  ]);
  const [name, ...others] = await readdir(cached);
  t.same([(await stat(join(cached, name!))).mode & 0o777, others], [0o600, []]);
  await writeFile(join(cached, name!), 'of another program');
  t.same(await startAndStop({ HOME: home }), [0, ''], 'a damaged cache');
  t.ok((await stat(join(cached, name!))).size > 1e6, 'is replaced');
  t.same(await startAndStop({ HOME: home }), [0, ''], 'a cache of the user');
  await run(process.execPath, [command('conformance'), 'list'], { env: { ...process.env, HOME: home } });
  t.equal((await readdir(cached)).length, 2);
  t.same(await listed(), before);
});

/** Starts an emulator, sends one request, and stops the emulator. Returns its exit code and standard error. */
async function startAndStop(environment: Readonly<Record<string, string>>): Promise<[number | null, string]> {
  const { XDG_CACHE_HOME: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  const child = spawn(process.execPath, [command('emulator'), 'start', '--port', '0', '--log', 'quiet'], { env });
  let complaint = '';
  child.stderr.on('data', (part) => {
    complaint += part;
  });
  const [line] = await onceOf<[Buffer]>(child.stdout, 'data');
  const { status } = await fetch(`${JSON.parse(`${line}`).admin_url}/health`);
  if (status !== 200) complaint += status;
  child.kill('SIGTERM');
  const [code] = await onceOf<[number | null]>(child, 'close');
  return [code, complaint];
}

function onceOf<Values>(emitter: ChildProcess | NodeJS.ReadableStream, event: string): Promise<Values> {
  return new Promise((resolve) => emitter.once(event, (...values: unknown[]) => resolve(values as Values)));
}
