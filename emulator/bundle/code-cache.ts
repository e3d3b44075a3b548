import { isAscii } from 'node:buffer';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import vm from 'node:vm';

interface LoadedFile {
  readonly exports: Record<string, unknown>;
}

/** A file as it is compiled, and the code that V8 made of it before. */
interface KeptFile {
  readonly source: string;
  readonly code: Buffer;
}

interface CompiledFile {
  readonly source: string;
  readonly script: vm.Script;
}

/** What a CommonJS file is wrapped in (Node's documentation, Modules: "The module wrapper"). */
const WRAPPER = ['(function (exports, require, module, __filename, __dirname) { ', '\n});'] as const;

/** The name of a part that entries share has the hash of what is in it (`bundleOptions`); an entry's has none. */
export const NAMED_BY_CONTENT = /-[\w-]{8}\.[\w.]+$/;

/** Where compiled code is kept: beside the entry of a bundle, for one version of Node on one kind of machine. */
const cacheOf = (entry: string): string => `${entry}.${process.version}-${process.platform}-${process.arch}.cache`;

/**
 * Loads a CommonJS bundle of `npm run bundle`, from code that was compiled before: to compile its megabyte takes as long
 * as all the rest of a start. One file holds the code of all of them, with their sources, which V8 asks for as well: to
 * open some forty of each takes longer than to read them. V8 looks at the code's version of itself, its flags, and the
 * length of the source; what does not fit is compiled anew (`vm.Script`, `cachedData`).
 */
export class Bundle {
  readonly #entry: string;
  readonly #kept: ReadonlyMap<string, KeptFile>;
  readonly #folder: string;
  readonly #require: (name: string) => unknown;
  readonly #files = new Map<string, LoadedFile>();
  readonly #compiled = new Map<string, CompiledFile>();

  constructor(entry: string) {
    this.#entry = entry;
    this.#folder = dirname(entry);
    const fromNode = createRequire(entry);
    this.#require = (name) => (name.startsWith('./') ? this.#load(join(this.#folder, name)) : fromNode(name));
    this.#kept = readKept(cacheOf(entry));
  }

  /** The exports of the entry, which is run once. Throws what reading and running it throws. */
  load(): Record<string, unknown> {
    return this.#load(this.#entry);
  }

  #load(file: string): Record<string, unknown> {
    const loaded = this.#files.get(file);
    if (loaded) return loaded.exports;
    const module: LoadedFile = { exports: {} };
    this.#files.set(file, module);
    const kept = this.#kept.get(basename(file));
    const isKept = kept !== undefined && (NAMED_BY_CONTENT.test(file) || kept.source === readSource(file));
    const source = isKept ? kept.source : readSource(file);
    const script = new vm.Script(source, { filename: file, ...(isKept && { cachedData: kept.code }) });
    if (!isKept) this.#compiled.set(file, { source, script });
    script.runInThisContext().call(module.exports, module.exports, this.#require, module, file, this.#folder);
    return module.exports;
  }

  /**
   * Keeps the code of the files for which there was none, with the functions that have run by now, beside that of the
   * others; the next start is quicker by it. Where a folder cannot be written, nothing is kept and nothing is said. What
   * is kept is seen whole or not at all, and a file that has been built anew meanwhile is left out.
   */
  keepCode(): void {
    if (this.#compiled.size === 0) return;
    const cache = cacheOf(this.#entry);
    const part = `${cache}.${process.pid}`;
    try {
      const all = new Map(this.#kept);
      for (const [file, { source, script }] of this.#compiled) {
        if (readSource(file) === source) all.set(basename(file), { source, code: script.createCachedData() });
      }
      writeFileSync(part, writeKept(all), { flag: 'wx' });
      renameSync(part, cache);
    } catch {
      discard(part);
    }
  }
}

function readSource(file: string): string {
  return WRAPPER.join(readFileSync(file, 'utf8'));
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A folder that cannot be written has nothing to discard.
  }
}

/** The first line of what is kept: name, length of the source, and length of the code of each file. */
type Table = readonly (readonly [name: string, source: number, code: number])[];

/**
 * A line of JSON with the lengths, all sources, all code. The sources become one string, of which each is a slice: that is
 * one copy outside the heap, so that nothing has to be collected while a process starts.
 */
function writeKept(files: ReadonlyMap<string, KeptFile>): Buffer {
  // One byte for each character: a bundle is ASCII.
  const rows = [...files].filter(([, { source }]) => isAscii(Buffer.from(source)));
  const table: Table = rows.map(([name, { source, code }]) => [name, source.length, code.length]);
  const text = rows.map(([, { source }]) => source).join('');
  return Buffer.concat([Buffer.from(`${JSON.stringify(table)}\n${text}`), ...rows.map(([, { code }]) => code)]);
}

/** None where it cannot be read, or is not whole. */
function readKept(cache: string): ReadonlyMap<string, KeptFile> {
  const files = new Map<string, KeptFile>();
  try {
    const bytes = readFileSync(cache);
    const start = bytes.indexOf('\n') + 1;
    const table = JSON.parse(bytes.toString('latin1', 0, start)) as Table;
    const length = table.reduce((sum, [, source]) => sum + source, 0);
    const whole = table.reduce((sum, [, , code]) => sum + code, start + length);
    if (bytes.length !== whole) return files;
    const text = bytes.toString('latin1', start, start + length);
    let from = 0;
    let at = start + length;
    for (const [name, source, code] of table) {
      files.set(name, { source: text.slice(from, from + source), code: bytes.subarray(at, at + code) });
      from += source;
      at += code;
    }
    return files;
  } catch {
    return new Map();
  }
}
