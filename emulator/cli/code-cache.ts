import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import vm from 'node:vm';

interface LoadedFile {
  readonly exports: Record<string, unknown>;
}

/** What a CommonJS file is wrapped in (Node's documentation, Modules: "The module wrapper"). */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n});'] as const;

/** Where the code that V8 compiled from a file is kept: beside it. */
const cacheOf = (file: string): string => `${file}.cache`;

/**
 * Loads the CommonJS bundle of `npm run bundle`, from code that was compiled when it was built: to compile its megabyte
 * takes as long as all the rest of a start. V8 looks at the cache's version of itself, its flags, and the length of the
 * source; what does not fit is compiled anew (`vm.Script`, `cachedData`). The bundle's folder is emptied when it is
 * built, so a cache is always of the file beside it.
 */
export class Bundle {
  readonly #files = new Map<string, LoadedFile>();
  readonly #scripts = new Map<string, vm.Script>();

  /** The exports of a file, which is run once. Throws what reading and running it throws. */
  load(file: string): Record<string, unknown> {
    const loaded = this.#files.get(file);
    if (loaded) return loaded.exports;
    const module: LoadedFile = { exports: {} };
    this.#files.set(file, module);
    const script = new vm.Script(WRAPPER.join(readFileSync(file, 'utf8')), { filename: file, ...readCache(file) });
    this.#scripts.set(file, script);
    const fromNode = createRequire(file);
    const require = (name: string): unknown =>
      name.startsWith('.') ? this.load(resolve(dirname(file), name)) : fromNode(name);
    script.runInThisContext().call(module.exports, module.exports, require, module, file, dirname(file));
    return module.exports;
  }

  /** Keeps the code of every file that was loaded, with the functions that have run by now. */
  writeCache(): void {
    for (const [file, script] of this.#scripts) writeFileSync(cacheOf(file), script.createCachedData());
  }
}

function readCache(file: string): { cachedData?: Buffer } {
  try {
    return { cachedData: readFileSync(cacheOf(file)) };
  } catch {
    return {};
  }
}
