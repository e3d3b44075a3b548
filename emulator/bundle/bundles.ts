import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** Folders of the compiled files, of the shipped bundles, and of bundles while they are being built. */
export const COMPILED = fileURLToPath(new URL('../../', import.meta.url));
export const BUNDLED = `${COMPILED}bundle/`;
export const MADE = `${COMPILED}bundle-made/`;

interface BundleRow {
  /** Folder in `dist/bundle`. */
  readonly name: string;
  /** Path of the compiled entry file, by the name of the bundle that is made from it. */
  readonly entries: Readonly<Record<string, string>>;
  /** File of an npm package, by the name of the bundle that is made from it. */
  readonly packaged?: Readonly<Record<string, string>>;
}

/**
 * Modules for test runners. The ES modules import their runner as an ES module, and shared code from the emulator's
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
 * Symbols that Node 20 and 22 define only in their main V8 context. Other contexts, in which jest 29 and the VM pools
 * of vitest load modules, lack them. The fallbacks equal those in the helpers of Babel and esbuild, so that `await
 * using` also works in tests that these tools compile.
 */
const DISPOSAL_SYMBOLS = Object.fromEntries(
  ['Symbol.dispose', 'Symbol.asyncDispose'].map((name) => [name, `(${name} ?? Symbol.for('${name}'))`]),
);

/** Test runners, loaded from the project that uses them. */
const RUNNERS = ['tap', 'vitest', '@jest/globals'];

interface LazyPackage {
  /** Name of the bundled file. */
  readonly file: string;
  /** Functions of the package that are used. */
  readonly functions: readonly string[];
}

/**
 * Packages in separate files that are loaded on the first call. Koa's dependencies load the table of media types at
 * import, which takes a tenth of the start time, but it is only needed when a file is requested. The tables of
 * encodings are needed for commits with an `encoding` header.
 */
const LAZY: Readonly<Record<string, LazyPackage>> = {
  'mime-types': { file: 'media-types', functions: ['charset', 'contentType', 'extension', 'lookup'] },
  'iconv-lite': { file: 'encodings', functions: ['decode'] },
};
const LAZY_FILES = Object.values(LAZY).map(({ file }) => file);

/**
 * All bundles: one file for each entry and for each dynamic import. Dependencies are bundled, so the published package
 * has none. The format is CommonJS, because its code can be cached (`code-cache.ts`) and it can be loaded from both
 * kinds of modules.
 */
export const BUNDLES: readonly BundleRow[] = [
  { name: 'loader', entries: { 'code-cache': 'emulator/bundle/code-cache.js' } },
  {
    name: 'emulator',
    entries: {
      cli: 'emulator/cli/main.js',
      'env-proxy': 'emulator/cli/env-proxy.js',
      index: 'emulator/index.js',
      ...RUNNER_MODULES,
      ...OF_RUNNERS,
    },
    packaged: Object.fromEntries(Object.entries(LAZY).map(([name, { file }]) => [file, name])),
  },
  { name: 'conformance', entries: { cli: 'conformance/cli/main.js', index: 'conformance/index.js' } },
];

/** Type declarations of the importable entries. Types of dependencies are included. */
const DECLARED = {
  emulator: 'emulator/index.d.ts',
  conformance: 'conformance/index.d.ts',
  ...Object.fromEntries(Object.entries(RUNNER_MODULES).map(([name, file]) => [name, file.replace(/js$/, 'd.ts')])),
};

const lazyPackages: Plugin = {
  name: 'lazy-packages',
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
 * Escapes non-ASCII characters. V8 stores a text that is not Latin-1 with two bytes per character, and compares names
 * in it more slowly.
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

export function bundleOptions({ name, entries, packaged = {} }: BundleRow): BuildOptions {
  const { resolve } = createRequire(import.meta.url);
  const ofPackages = Object.entries(packaged).map(([file, one]) => [file, resolve(one)]);
  return {
    input: { ...compiled(entries), ...Object.fromEntries(ofPackages) },
    platform: 'node',
    external: RUNNERS,
    transform: { define: DISPOSAL_SYMBOLS },
    plugins: [lazyPackages, ascii],
    logLevel: 'silent',
    output: {
      dir: `${MADE}${name}`,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      // `Bundle` runs the files as scripts, which cannot contain `import()`.
      dynamicImportInCjs: false,
      // Keeps function names for stack traces.
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

/** Options for the test runner modules as ES modules. */
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

/** Options for type declarations: one file for each entry, and shared files. */
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
