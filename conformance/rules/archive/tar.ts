import { gunzipSync } from 'node:zlib';
import type { ApiResponse } from '../../check/api-response.js';
import { AssertionFailure } from '../../check/outcomes.js';

/** File in a tar archive. `mode` is its permission bits. */
export type TarFile = ReturnType<typeof readTar>[number];

/** Returns the regular files in a tar.gz response body. */
export function readTar(response: ApiResponse) {
  return readEntries(response).filter(({ type }) => type === '0');
}

/**
 * Returns all entries of a tar.gz response body. `type` is as in the entry's header: `0` for a file, `2` for a symbolic
 * link, `5` for a folder.
 *
 * Format (POSIX ustar): blocks of 512 bytes; name at 0, mode at 100, size at 124, type at 156, prefix at 345. A pax
 * header (type `x`) replaces the path of the next entry.
 */
export function readEntries(response: ApiResponse) {
  const tar = gunzip(response);
  const entries: { name: string; type: string; mode: number; bytes: Buffer }[] = [];
  let longPath: string | undefined;
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + 512);
    const size = Number.parseInt(text(header, 124, 12), 8) || 0;
    const bytes = tar.subarray(at + 512, at + 512 + size);
    const type = String.fromCharCode(header[156] || 0x30);
    at += 512 + Math.ceil(size / 512) * 512;
    if (type === 'x') longPath = /\d+ path=(.*)\n/.exec(bytes.toString('utf8'))?.[1];
    else if (type === 'L') longPath = text(bytes, 0, size);
    if ('xLgK'.includes(type)) continue; // describes the next entry, or all entries
    const path = longPath;
    longPath = undefined;
    const prefix = text(header, 345, 155);
    const name = path ?? (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
    entries.push({ name, type, mode: Number.parseInt(text(header, 100, 8), 8) & 0o777, bytes: Buffer.from(bytes) });
  }
  return entries;
}

/**
 * Returns the files of an archive with their paths in the repository. A server may add its own prefix if none was
 * requested, because only a SHOULD forbids that; this prefix is removed too.
 *
 * - `known`: all paths that the repository contains.
 * - `prefix`: path prefix that was requested.
 */
export function readPaths(response: ApiResponse, known: readonly string[], prefix = ''): TarFile[] {
  const files = readTar(response);
  const odd = files.find(({ name }) => !name.startsWith(prefix));
  if (odd !== undefined) throw new AssertionFailure(`every name must start with ${prefix}`, prefix, odd.name);
  const names = files.map(({ name }) => name.slice(prefix.length));
  const own = foldersOf(names[0] ?? '').find((folder) =>
    names.every((name) => name.startsWith(folder) && known.includes(name.slice(folder.length))),
  );
  const skipped = prefix.length + (own ?? '').length;
  return files.map((file) => ({ ...file, name: file.name.slice(skipped) }));
}

/** Returns all folders above a path, the root first: `a/b/c` gives an empty string, `a/` and `a/b/`. */
function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return ['', ...names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`)];
}

function gunzip(response: ApiResponse): Buffer {
  try {
    return gunzipSync(response.body);
  } catch {
    throw new AssertionFailure('the body must be gzip', 'gzip', response.body.subarray(0, 40).toString('latin1'));
  }
}

function text(bytes: Buffer, start: number, length: number): string {
  const part = bytes.subarray(start, start + length);
  const end = part.indexOf(0);
  return part.toString('utf8', 0, end === -1 ? part.length : end).trim();
}
