import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** Where the compiled files are, and where the bundles go, which are what is shipped of them. */
export const COMPILED = fileURLToPath(new URL('../../', import.meta.url));
export const BUNDLED = fileURLToPath(new URL('../../bundle/', import.meta.url));

interface BundleRow {
  /** Folder in `dist/bundle`. */
  readonly name: string;
  /** Name of the bundled file, and the compiled file it is made of. */
  readonly entries: Readonly<Record<string, string>>;
}

/** Modules for test runners. As ES modules they import their runner as such, and what they share from the emulator's bundle. */
const RUNNER_MODULES = {
  'node-test': 'emulator/runners/node-test.js',
  tap: 'emulator/runners/tap.js',
  vitest: 'emulator/runners/vitest.js',
  jest: 'emulator/runners/jest.js',
};
const OF_RUNNERS = {
  failure: 'emulator/runners/failure.js',
  'test-namespaces': 'emulator/runners/test-namespaces.js',
};

/** Loaded from the project that uses them. */
const RUNNERS = ['tap', 'vitest', '@jest/globals'];

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
  },
  { name: 'conformance', entries: { cli: 'conformance/cli/main.js', index: 'conformance/index.js' } },
];

/** Declarations of what can be imported, by the same entries; types of packages are copied in. */
const DECLARED = {
  emulator: 'emulator/index.d.ts',
  conformance: 'conformance/index.d.ts',
  ...Object.fromEntries(Object.entries(RUNNER_MODULES).map(([name, file]) => [name, file.replace(/js$/, 'd.ts')])),
};

const LAZY = '\0mime-types';

/**
 * Koa's parts load the table of media types when they are loaded, which takes a tenth of a start; none of our answers
 * reads it before a file is asked for. In the bundle the first call loads it, and all of them the same version.
 */
const lazyMediaTypes: Plugin = {
  name: 'lazy-media-types',
  resolveId: (source) => (source === 'mime-types' ? LAZY : null),
  load(id) {
    if (id !== LAZY) return null;
    const functions = ['charset', 'contentType', 'extension', 'lookup'];
    return functions
      .map((name) => `exports.${name} = (given) => require('mime-types/index.js').${name}(given);`)
      .join('\n');
  },
};

export function bundleOptions({ name, entries }: BundleRow): BuildOptions {
  return {
    input: compiled(entries),
    platform: 'node',
    external: RUNNERS,
    plugins: [lazyMediaTypes],
    logLevel: 'silent',
    output: {
      dir: `${BUNDLED}${name}`,
      cleanDir: true,
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      // A stack trace names functions.
      minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    },
  };
}

const sharedByRunners: Plugin = {
  name: 'shared-by-runners',
  resolveId: (source) => {
    const name = Object.keys(OF_RUNNERS).find((one) => source === `./${one}.js`);
    return name === undefined ? null : { id: `${BUNDLED}emulator/${name}.cjs`, external: 'relative' };
  },
};

/** The modules for test runners as ES modules. */
export function runnerOptions(): BuildOptions {
  return {
    input: compiled(RUNNER_MODULES),
    platform: 'node',
    external: RUNNERS,
    plugins: [sharedByRunners],
    logLevel: 'silent',
    output: { dir: `${BUNDLED}runners`, cleanDir: true, format: 'es', entryFileNames: '[name].mjs' },
  };
}

/** One file of declarations for each entry, and those they share. */
export function declarationOptions(): BuildOptions {
  return {
    input: compiled(DECLARED),
    plugins: [dts({ dtsInput: true })],
    external: [/^node:/, ...RUNNERS],
    logLevel: 'silent',
    output: { dir: `${BUNDLED}types`, cleanDir: true, format: 'es' },
  };
}

function compiled(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, COMPILED + file]));
}
