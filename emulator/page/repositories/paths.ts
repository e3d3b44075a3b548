/*
 * Paths of files in a repository, as the admin API represents them. A path is a string in `path`. If it is not UTF-8,
 * its bytes are in `path_bytes`, encoded in base64url.
 */

import { placeWith } from '../place.js';

export interface RepositoryPath {
  readonly path?: string | undefined;
  readonly path_bytes?: string | undefined;
}

/**
 * Returns the URL in the web page of a file or folder. The repository and the ref are those that the page currently
 * shows.
 */
export function hrefOf(to: RepositoryPath, params: Readonly<Record<string, string>> = {}): string {
  return placeWith({ path: '', path_bytes: '', line: '', ...to, ...params });
}

export interface Named {
  readonly name: string;
  readonly name_bytes?: string | undefined;
}

const SLASH = 0x2f;

/**
 * Returns the path of an entry of a folder: `src` and `main.c` → `src/main.c`. If the path of the folder or the name of
 * the entry is not UTF-8, they are joined as bytes.
 */
export function childOf(folder: RepositoryPath, { name, name_bytes }: Named): RepositoryPath {
  const isRoot = !folder.path && !folder.path_bytes;
  if (folder.path_bytes === undefined && name_bytes === undefined)
    return { path: isRoot ? name : `${folder.path}/${name}` };
  const bytes = name_bytes === undefined ? new TextEncoder().encode(name) : fromBase64(name_bytes);
  return writePath(isRoot ? bytes : Uint8Array.of(...bytesOf(folder), SLASH, ...bytes));
}

/**
 * Returns the name and path of each folder that contains a file, outermost first, and then of the file itself. The page
 * shows them as links above the file.
 */
export function stepsOf(path: RepositoryPath): { readonly name: string; readonly at: RepositoryPath }[] {
  const bytes = bytesOf(path);
  const steps = [];
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    if (at < bytes.length && bytes[at] !== SLASH) continue;
    if (at > start)
      steps.push({ name: new TextDecoder().decode(bytes.subarray(start, at)), at: writePath(bytes.subarray(0, at)) });
    start = at + 1;
  }
  return steps;
}

function bytesOf({ path = '', path_bytes }: RepositoryPath): Uint8Array {
  return path_bytes === undefined ? new TextEncoder().encode(path) : fromBase64(path_bytes);
}

function writePath(bytes: Uint8Array): RepositoryPath {
  try {
    return { path: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    return { path_bytes: text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') };
  }
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
}
