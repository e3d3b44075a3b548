import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** V8's compiled code of one source file (code cache). */
export interface CachedFile {
  /** Source text of the file; undefined if the cache contains only the code. */
  readonly source: string | undefined;
  readonly code: Buffer;
}

export type CachedFiles = ReadonlyMap<string, CachedFile>;

/** Header of a cache file: one line of JSON. In a user's cache, a line with a checksum comes before it. */
interface Header {
  /** Path of the entry file of the bundle whose code the cache contains. */
  readonly entry: string;
  /** Hash of the entry file's content. The entry file contains hashes of the files that it loads. */
  readonly content: string;
  /** Name, source length and code length of each file. */
  readonly files: readonly (readonly [name: string, source: number, code: number])[];
}

/** Identity of the code in a cache: the path of the bundle's entry file and the hash of its content. */
export type CacheOwner = Pick<Header, 'entry' | 'content'>;

const CACHE = /\.cache$/;
const TEMPORARY = /\.cache\.\d+$/;

/** Age in milliseconds at which a temporary file is deleted. The process that wrote it must have ended by then. */
const ABANDONED = 60 * 60 * 1000;

/**
 * Returns the folder for cached code inside the user's cache folder. On Linux, the cache folder follows the XDG Base
 * Directory Specification; on macOS and Windows, it is the folder of the system.
 *
 * Returns undefined if the user has no cache folder, or if NODE_DISABLE_COMPILE_CACHE is set. This variable also
 * disables Node's own compile cache.
 */
export function codeCacheFolder({ platform, env }: Pick<NodeJS.Process, 'platform' | 'env'>): string | undefined {
  const { NODE_DISABLE_COMPILE_CACHE: disabled, XDG_CACHE_HOME: xdg = '', LOCALAPPDATA: local = '' } = env;
  if (disabled) return undefined;
  const given = platform === 'win32' ? local : xdg;
  const usual = { win32: ['AppData', 'Local'], darwin: ['Library', 'Caches'] }[platform as string] ?? ['.cache'];
  try {
    const folder = isAbsolute(given) ? given : join(homedir(), ...usual);
    return isAbsolute(folder) ? join(folder, 'repohost-emulator') : undefined;
  } catch {
    // `homedir` throws if the user has no home folder. No cache is used then.
    return undefined;
  }
}

export function hashOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Reads a user's cache. Returns undefined if it is missing, damaged or not private, or if the content of the entry file
 * has changed.
 *
 * The first line contains a hash of the rest of the file. It is needed, because V8 checks only a header and the length
 * of cached code.
 */
export function readUserCache(file: string, content: string): CachedFiles | undefined {
  try {
    const bytes = readPrivate(file);
    const start = bytes.indexOf('\n') + 1;
    const rest = bytes.subarray(start);
    return bytes.toString('latin1', 0, start - 1) === hashOf(rest) ? parseCache(rest, content) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a cache that is shipped with the package. Returns undefined if it is missing or was made for an entry file with
 * other content.
 */
export function readShippedCache(file: string, content: string): CachedFiles | undefined {
  try {
    return parseCache(readFileSync(file), content);
  } catch {
    return undefined;
  }
}

function readPrivate(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile() || !isPrivate(stats))
      throw new Error(`${file} must be a regular file that only its owner can access`);
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Parses a file of the code cache. The source texts of all modules are slices of one external string. The garbage
 * collector neither copies nor scans such a string, so the sources do not slow down the start of the process.
 */
function parseCache(bytes: Buffer, content: string): CachedFiles | undefined {
  const start = bytes.indexOf('\n') + 1;
  const header = JSON.parse(bytes.toString('utf8', 0, start)) as Header;
  if (header.content !== content) return undefined;
  const length = header.files.reduce((sum, [, source]) => sum + source, 0);
  const text = bytes.toString('latin1', start, start + length);
  const files = new Map<string, CachedFile>();
  let from = 0;
  let at = start + length;
  for (const [name, sourceLength, codeLength] of header.files) {
    const source = sourceLength === 0 ? undefined : text.slice(from, from + sourceLength);
    files.set(name, { source, code: bytes.subarray(at, at + codeLength) });
    from += sourceLength;
    at += codeLength;
  }
  return files;
}

/** Serializes a cache. Non-ASCII sources are omitted, because the reader assumes one byte per character. */
export function cacheBytes({ entry, content }: CacheOwner, given: CachedFiles): Buffer {
  const rows = [...given].filter(([, { source = '' }]) => isAscii(Buffer.from(source)));
  const files = rows.map(([name, { source = '', code }]) => [name, source.length, code.length] as const);
  const header: Header = { entry, content, files };
  const text = rows.map(([, { source = '' }]) => source).join('');
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n${text}`), ...rows.map(([, { code }]) => code)]);
}

/**
 * Returns true if only this user can read or write the file. Always returns true on Windows, which has no such modes.
 */
export function isPrivate({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
}

/**
 * Writes a user's code cache atomically. Also deletes caches in this folder whose bundle is missing or has changed.
 * Creates the folder if it is missing. Throws an error if the folder cannot be written or is not private.
 */
export function writeUserCache(file: string, bytes: Buffer): void {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(statSync(folder))) throw new Error(`${folder} must be a folder that only its owner can access`);
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, Buffer.concat([Buffer.from(`${hashOf(bytes)}\n`), bytes]), { flag: 'wx', mode: 0o600 });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  for (const name of readdirSync(folder)) if (isStale(join(folder, name))) rmSync(join(folder, name), { force: true });
}

/**
 * Returns true for a file that must be deleted: a cache whose bundle is missing or has changed, or an old temporary
 * file.
 */
function isStale(file: string): boolean {
  if (TEMPORARY.test(file)) return statSync(file).mtimeMs < Date.now() - ABANDONED;
  if (!CACHE.test(file)) return false;
  try {
    const [, header = ''] = readFileSync(file, 'utf8').split('\n', 2);
    const { entry, content } = JSON.parse(header) as Header;
    return hashOf(readFileSync(entry)) !== content;
  } catch {
    return true;
  }
}
