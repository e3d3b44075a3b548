import { createHash } from 'node:crypto';
import { type ByteString, bytesIn, bytesOf, isUtf8, textOf } from '../git/object/bytes.js';
import { Problem } from '../http/problem.js';
import { type FileTree, readSmall, SourceError } from '../sources/file-tree.js';

/** Maximum size in bytes of a JSON file in an export (saved state of an emulator). */
export const MAX_JSON = 256 * 1024 * 1024;

/**
 * Reads a JSON file of a saved state and returns its value. `digest` is the SHA-1 that the file must have; not checked
 * if absent. Throws `SourceError` if the file is missing, changed or invalid.
 */
export async function readJson(tree: FileTree, path: string, digest?: string): Promise<unknown> {
  const bytes = await readSmall(tree, bytesOf(path), MAX_JSON);
  if (!bytes) throw new SourceError(`${tree.title} has no file ${path}, which every export has.`);
  if (digest !== undefined && sha1(bytes) !== digest)
    throw new SourceError(`${tree.title}: the file ${path} was changed after the export: its checksum does not match.`);
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw new SourceError(`${tree.title}: the file ${path} is not valid JSON.`);
  }
}

/** Kinds of files that are named after the SHA-1 of their content, such as `list-<40 digits>.json`. */
type DigestedKind = 'record' | 'list';

export function digestedName(kind: DigestedKind, content: Buffer): string {
  return `${kind}-${sha1(content)}.json`;
}

/** Returns the SHA-1 in a file name such as `list-<40 digits>.json`; undefined for any other name. */
export function digestIn(kind: DigestedKind, name: string): string | undefined {
  return new RegExp(`^${kind}-([0-9a-f]{40})\\.json$`).exec(name)?.[1];
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}

/**
 * Calls `read`. Converts a `Problem` (error response of the API) to a `SourceError` that names the source of the files.
 */
export function checked<T>(read: () => T, { title }: FileTree): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Problem ? new SourceError(`${title} cannot be read: ${error.detail}`) : error;
  }
}

/**
 * Returns the canonical JSON of a value, which is the same for equal values, whatever the order of their members.
 * Members are sorted by name; only `format` comes first.
 */
export function jsonOf(value: object): string {
  const sorted = (_: string, member: unknown): unknown => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.sort(([one], [other]) => Number(other === 'format') - Number(one === 'format')));
  };
  return `${JSON.stringify(value, sorted, 1)}\n`;
}

/**
 * Marks a ref name that is written as base64, because it is not UTF-8. No real ref name begins with this, because ref
 * names cannot contain a colon.
 */
const BASE64 = ':base64:';

/**
 * Converts a ref name (bytes) to text for a JSON file. UTF-8 stays unchanged; other names become base64 with a prefix.
 */
export function nameText(name: ByteString): string {
  return isUtf8(name) ? textOf(name) : BASE64 + Buffer.from(name, 'latin1').toString('base64');
}

export function nameOfText(text: string): ByteString {
  return text.startsWith(BASE64) ? bytesIn(Buffer.from(text.slice(BASE64.length), 'base64')) : bytesOf(text);
}
