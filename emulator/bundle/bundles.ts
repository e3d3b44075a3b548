import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/**
 * Absolute paths of three folders: the compiled files (`dist`), the shipped bundles, and the bundles while they are
 * being built.
 */
export const COMPILED = fileURLToPath(new URL('../../', import.meta.url));
export const BUNDLED = `${COMPILED}bundle/`;
export const MADE = `${COMPILED}bundle-made/`;

interface BundleRow {
  /** Name of the folder in `dist/bundle` that contains the files of this bundle. */
  readonly name: string;
  /**
   * Compiled entry files. The key is the name of the file that the bundler creates. The value is the path of the entry
   * file, relative to `dist`.
   */
  readonly entries: Readonly<Record<string, string>>;
  /** Modules that become separate bundled files and are loaded lazily. */
  readonly lazy?: Readonly<Record<string, LazyModule>>;
}

/**
 * Compiled modules that connect the emulator to test runners, by name of the runner. The ES module version of such a
 * module imports its runner as an ES module. It imports the code that it shares with the emulator from the emulator's
 * bundle.
 */
export const RUNNER_MODULES = {
  'node-test': 'emulator/runners/node-test.js',
  tap: 'emulator/runners/tap.js',
  vitest: 'emulator/runners/vitest.js',
  jest: 'emulator/runners/jest.js',
};
const OF_RUNNERS = { 'test-namespaces': 'emulator/runners/test-namespaces.js' };

/**
 * Replacements for two symbols that Node 20 and 22 define only in their main V8 context. Jest 29 and the VM pools of
 * vitest load modules in other contexts, which lack these symbols.
 *
 * The fallbacks equal those in the helpers of Babel and esbuild. `await using` therefore also works in tests that these
 * tools compile.
 */
const DISPOSAL_SYMBOLS = Object.fromEntries(
  ['Symbol.dispose', 'Symbol.asyncDispose'].map((name) => [name, `(${name} ?? Symbol.for('${name}'))`]),
);

/** Packages of test runners. They are not bundled, but loaded from the project that uses the runner. */
const RUNNERS = ['tap', 'vitest', '@jest/globals'];

interface LazyModule {
  /** Name of the bundled file that contains the module. */
  readonly file: string;
  /** Path of a compiled file of the emulator, relative to `dist`. Absent if the module is an npm package. */
  readonly compiled?: string;
  /** Names of the module's functions that the emulator calls. */
  readonly functions: readonly string[];
}

/**
 * Modules that are bundled into separate files, by the name that `import` statements use. Such a file is loaded at the
 * first call of one of the module's functions.
 *
 * - `mime-types`: dependencies of Koa import its table of media types. Loading the table takes a tenth of the start
 *   time, but it is only needed when a file is requested.
 * - `iconv-lite`: its tables are only needed for commits with an `encoding` header.
 * - `expression-libraries.js`: imports re2js and json-p3. They are only needed for faults with a regular expression or a
 *   JSONPath.
 */
const LAZY: Readonly<Record<string, LazyModule>> = {
  'mime-types': { file: 'media-types', functions: ['charset', 'contentType', 'extension', 'lookup'] },
  'iconv-lite': { file: 'encodings', functions: ['decode'] },
  './expression-libraries.js': {
    file: 'expressions',
    compiled: 'emulator/faults/expression-libraries.js',
    functions: ['compileRegex', 'compileJsonPath'],
  },
};
const LAZY_FILES = Object.values(LAZY).map(({ file }) => file);

/**
 * All bundles. Each bundle has one file for each entry and for each dynamic import. The bundles contain all
 * dependencies, so the published package depends on no other package.
 *
 * The format is CommonJS for two reasons: V8's compiled code can be cached (`code-cache.ts`), and both CommonJS and ES
 * modules can load it.
 */
export const BUNDLES: readonly BundleRow[] = [
  { name: 'loader', entries: { 'code-cache': 'emulator/bundle/code-cache.js' } },
  {
    name: 'emulator',
    entries: {
      cli: 'emulator/cli/main.js',
      'env-proxy': 'emulator/cli/env-proxy.js',
      'emulator-process': 'emulator/runners/emulator-process.js',
      index: 'emulator/index.js',
      ...RUNNER_MODULES,
      ...OF_RUNNERS,
    },
    lazy: LAZY,
  },
  { name: 'conformance', entries: { cli: 'conformance/cli/main.js', index: 'conformance/index.js' } },
];

/**
 * Type declarations of the entries that users import. The bundler copies the types of dependencies into these files.
 */
const DECLARED = {
  emulator: 'emulator/index.d.ts',
  conformance: 'conformance/index.d.ts',
  ...Object.fromEntries(Object.entries(RUNNER_MODULES).map(([name, file]) => [name, file.replace(/js$/, 'd.ts')])),
};

const lazyModules: Plugin = {
  name: 'lazy-modules',
  resolveId: (source) => {
    if (LAZY_FILES.includes(source)) return { id: `./${source}.cjs`, external: true };
    return source in LAZY ? `\0${source}` : null;
  },
  load(id) {
    const lazy = id.startsWith('\0') ? LAZY[id.slice(1)] : undefined;
    if (lazy === undefined) return null;
    const { file, functions } = lazy;
    return functions.map((name) => `exports.${name} = (...given) => require('${file}').${name}(...given);`).join('\n');
  },
};

/**
 * Bundler plugin that replaces each non-ASCII character by an escape sequence. V8 stores a source text that is not
 * Latin-1 with two bytes per character, and compares names in it more slowly.
 */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      file.code = file.code.replaceAll(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

export function bundleOptions({ name, entries, lazy = {} }: BundleRow): BuildOptions {
  const { resolve } = createRequire(import.meta.url);
  const ofModules = Object.entries(lazy).map(([module, { file, compiled: path }]) => [
    file,
    path === undefined ? resolve(module) : COMPILED + path,
  ]);
  return {
    input: { ...compiled(entries), ...Object.fromEntries(ofModules) },
    platform: 'node',
    external: RUNNERS,
    transform: { define: DISPOSAL_SYMBOLS },
    plugins: [lazyModules, ascii],
    logLevel: 'silent',
    output: {
      dir: `${MADE}${name}`,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      // Replace `import()` by `require`. `Bundle` runs the files as scripts, and scripts cannot contain `import()`.
      dynamicImportInCjs: false,
      // Keep the names of functions, because they appear in stack traces.
      minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    },
  };
}

const sharedByRunners: Plugin = {
  name: 'shared-by-runners',
  resolveId: (source) => {
    const name = Object.keys(OF_RUNNERS).find((one) => source === `./${one}.js`);
    return name === undefined ? null : { id: `../emulator/${name}.cjs`, external: true };
  },
};

/** Returns the bundler options that build the modules for test runners as ES modules. */
export function runnerOptions(): BuildOptions {
  return {
    input: compiled(RUNNER_MODULES),
    platform: 'node',
    external: RUNNERS,
    transform: { define: DISPOSAL_SYMBOLS },
    plugins: [sharedByRunners],
    logLevel: 'silent',
    output: { dir: `${MADE}runners`, format: 'es', entryFileNames: '[name].mjs' },
  };
}

/**
 * Returns the bundler options for type declarations. The result is one file for each entry, and further files for the
 * types that entries share.
 */
export function declarationOptions(): BuildOptions {
  return {
    input: compiled(DECLARED),
    plugins: [dts({ dtsInput: true })],
    external: [/^node:/, ...RUNNERS],
    logLevel: 'silent',
    output: { dir: `${MADE}types`, format: 'es' },
  };
}

function compiled(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, COMPILED + file]));
}
