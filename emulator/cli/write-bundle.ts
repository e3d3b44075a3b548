import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'rolldown';

/*
 * The first step of `npm run bundle`: one file for the start, and one for each import that is made later.
 */
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

await build({
  input: fileURLToPath(new URL('./main.js', import.meta.url)),
  platform: 'node',
  plugins: [lazyMediaTypes],
  logLevel: 'silent',
  output: {
    dir: fileURLToPath(new URL('../../start', import.meta.url)),
    cleanDir: true,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: true,
    sourcemap: true,
  },
});
