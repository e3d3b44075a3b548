import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** Where the compiled files are, where the bundles go, which are what is shipped of them, and where they are made. */
export const COMPILED = fileURLToPath(new URL('../../', import.meta.url));
export const BUNDLED = `${COMPILED}bundle/`;
export const MADE = `${COMPILED}bundle-made/`;

interface BundleRow {
  /** Folder in `dist/bundle`. */
  readonly name: string;
  /** Name of the bundled file, and the compiled file it is made of. */
  readonly entries: Readonly<Record<string, string>>;
  /** The same, of files of packages. */
  readonly packaged?: Readonly<Record<string, string>>;
}

/** Modules for test runners. As ES modules they import their runner as such, and what they share from the emulator's bundle. */
export const RUNNER_MODULES = {
  'node-test': 'emulator/runners/node-test.js',
  tap: 'emulator/runners/tap.js',
  vitest: 'emulator/runners/vitest.js',
  jest: 'emulator/runners/jest.js',
};
const OF_RUNNERS = { 'test-namespaces': 'emulator/runners/test-namespaces.js' };

/**
 * Symbols that Node 20 and 22 define in their main context only, so that V8's other contexts lack them; jest 29 and the VM
 * pools of vitest load modules in such contexts. The fallbacks are those of the helpers of Babel and esbuild, by which `await using` in
 * their tests works too.
 */
const DISPOSAL_SYMBOLS = Object.fromEntries(
  ['Symbol.dispose', 'Symbol.asyncDispose'].map((name) => [name, `(${name} ?? Symbol.for('${name}'))`]),
);

/** Loaded from the project that uses them. */
const RUNNERS = ['tap', 'vitest', '@jest/globals'];

interface LazyPackage {
  /** Name of the bundled file. */
  readonly file: string;
  /** Functions of the package that are called. */
  readonly functions: readonly string[];
}

/**
 * Packages that the first call loads, from a file of their own. Koa's parts load the table of media types when they are
 * loaded, which takes a tenth of a start, but no response reads it before a file is requested. The tables of encodings are
 * read for a commit with an `encoding` header.
 */
const LAZY: Readonly<Record<string, LazyPackage>> = {
  'mime-types': { file: 'media-types', functions: ['charset', 'contentType', 'extension', 'lookup'] },
  'iconv-lite': { file: 'encodings', functions: ['decode'] },
};
const LAZY_FILES = Object.values(LAZY).map(({ file }) => file);

/**
 * Every bundle: one file for each entry and for each import that is made later. Packages are bundled, so the published
 * package depends on none. CommonJS, because its code can be kept (`code-cache.ts`), and loads from either kind of module.
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

/** Declarations of what can be imported, by the same entries; types of packages are copied in. */
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

/** V8 holds a text that is not Latin-1 with two bytes for each character, and compares every name in it more slowly. */
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
      // `Bundle` runs the files as scripts, in which `import()` cannot be.
      dynamicImportInCjs: false,
      // A stack trace names functions.
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

/** The modules for test runners as ES modules. */
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

/** One file of declarations for each entry, and those they share. */
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
