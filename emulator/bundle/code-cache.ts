import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import vm from 'node:vm';

interface LoadedFile {
  readonly exports: Record<string, unknown>;
}

/** What a CommonJS file is wrapped in (Node's documentation, Modules: "The module wrapper"). */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n});'] as const;

/** Where the code that V8 compiled from a file is kept: beside it, for one version of Node on one kind of machine. */
const cacheOf = (file: string): string => `${file}.${process.version}-${process.platform}-${process.arch}.cache`;

/**
 * Loads a CommonJS bundle of `npm run bundle`, from code that was compiled before: to compile its megabyte takes as long
 * as all the rest of a start. V8 looks at the cache's version of itself, its flags, and the length of the source; what
 * does not fit is compiled anew (`vm.Script`, `cachedData`). The bundles' folder is emptied when they are built, so a
 * cache is always of the file beside it.
 */
export class Bundle {
  readonly #files = new Map<string, LoadedFile>();
  readonly #scripts = new Map<string, { readonly script: vm.Script; readonly source: string }>();

  /** The exports of a file, which is run once. Throws what reading and running it throws. */
  load(file: string): Record<string, unknown> {
    const loaded = this.#files.get(file);
    if (loaded) return loaded.exports;
    const module: LoadedFile = { exports: {} };
    this.#files.set(file, module);
    const source = readFileSync(file, 'utf8');
    const script = new vm.Script(WRAPPER.join(source), { filename: file, ...readCache(file) });
    this.#scripts.set(file, { script, source });
    const fromNode = createRequire(file);
    const require = (name: string): unknown =>
      name.startsWith('.') ? this.load(resolve(dirname(file), name)) : fromNode(name);
    script.runInThisContext().call(module.exports, module.exports, require, module, file, dirname(file));
    return module.exports;
  }

  /** Keeps the code of every file that was loaded, with the functions that have run by now. */
  writeCache(): void {
    for (const [file, { script }] of this.#scripts) writeFileSync(cacheOf(file), script.createCachedData());
  }

  /**
   * Keeps the code of the files that have none yet for this Node, which the next start is quicker by. Where a folder
   * cannot be written, nothing is kept and nothing is said. A cache is seen whole or not at all, and one of a file that
   * has been built anew meanwhile is not written.
   */
  keepCode(): void {
    for (const [file, { script, source }] of this.#scripts) {
      const cache = cacheOf(file);
      const part = `${cache}.${process.pid}`;
      try {
        if (existsSync(cache) || readFileSync(file, 'utf8') !== source) continue;
        writeFileSync(part, script.createCachedData(), { flag: 'wx' });
        renameSync(part, cache);
      } catch {
        discard(part);
        return;
      }
    }
  }
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A folder that cannot be written has nothing to discard.
  }
}

function readCache(file: string): { cachedData?: Buffer } {
  try {
    return { cachedData: readFileSync(cacheOf(file)) };
  } catch {
    return {};
  }
}
