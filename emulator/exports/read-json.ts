import { bytesOf } from '../git/object/bytes.js';
import { Problem } from '../http/problem.js';
import { type FileTree, readSmall, SourceError } from '../sources/file-tree.js';

/** Bytes of the largest manifest, and of the largest record. */
export const MOST_JSON = 256 * 1024 * 1024;

export async function readJson(tree: FileTree, path: string): Promise<unknown> {
  const bytes = await readSmall(tree, bytesOf(path), MOST_JSON);
  if (!bytes) throw new SourceError(`${tree.title} has no ${path}.`);
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw new SourceError(`${tree.title} has a ${path} that is no JSON.`);
  }
}

/** What `read` reads; what it refuses as a `SourceError`. */
export function checked<T>(read: () => T, { title }: FileTree): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Problem ? new SourceError(`${title} cannot be read: ${error.detail}`) : error;
  }
}
