import { type ByteString, bytesIn, bytesOf, isUtf8, textOf } from '../git/object/bytes.js';
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

/** The same text for the same value, in whatever order its members were set; the format comes first. */
export function jsonOf(value: object): string {
  const sorted = (_: string, member: unknown): unknown => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.sort(([one], [other]) => Number(other === 'format') - Number(one === 'format')));
  };
  return `${JSON.stringify(value, sorted, 1)}\n`;
}

/** Ref names cannot hold a colon, so nothing else begins so. */
const BASE64 = ':base64:';

/** The name of a ref as text; one that is no UTF-8 in base64. */
export function nameText(name: ByteString): string {
  return isUtf8(name) ? textOf(name) : BASE64 + Buffer.from(name, 'latin1').toString('base64');
}

export function nameOfText(text: string): ByteString {
  return text.startsWith(BASE64) ? bytesIn(Buffer.from(text.slice(BASE64.length), 'base64')) : bytesOf(text);
}
