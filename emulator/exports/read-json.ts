import { createHash } from 'node:crypto';
import { type ByteString, bytesIn, bytesOf, isUtf8, textOf } from '../git/object/bytes.js';
import { Problem } from '../http/problem.js';
import { type FileTree, readSmall, SourceError } from '../sources/file-tree.js';

/** Maximum size of a JSON file of an export, in bytes. */
export const MAX_JSON = 256 * 1024 * 1024;

/** Reads a JSON file. `digest`: expected SHA-1 of its content. Throws `SourceError`. */
export async function readJson(tree: FileTree, path: string, digest?: string): Promise<unknown> {
  const bytes = await readSmall(tree, bytesOf(path), MAX_JSON);
  if (!bytes) throw new SourceError(`${tree.title} has no ${path}.`);
  if (digest !== undefined && sha1(bytes) !== digest)
    throw new SourceError(`${tree.title}: ${path} was changed, because its checksum does not match.`);
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw new SourceError(`${tree.title}: ${path} is not valid JSON.`);
  }
}

/** Kinds of files named by kind and SHA-1 of their content: `list-<40 digits>.json`. */
type DigestedKind = 'record' | 'list';

export function digestedName(kind: DigestedKind, content: Buffer): string {
  return `${kind}-${sha1(content)}.json`;
}

/** Returns the SHA-1 in the name of such a file; undefined for other names. */
export function digestIn(kind: DigestedKind, name: string): string | undefined {
  return new RegExp(`^${kind}-([0-9a-f]{40})\\.json$`).exec(name)?.[1];
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex');
}

/** Calls `read`, and converts its `Problem` to a `SourceError`. */
export function checked<T>(read: () => T, { title }: FileTree): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Problem ? new SourceError(`${title} cannot be read: ${error.detail}`) : error;
  }
}

/** Canonical JSON: the same text for equal values, whatever the order of their members. `format` comes first. */
export function jsonOf(value: object): string {
  const sorted = (_: string, member: unknown): unknown => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(entries.sort(([one], [other]) => Number(other === 'format') - Number(one === 'format')));
  };
  return `${JSON.stringify(value, sorted, 1)}\n`;
}

/** Prefix of a base64 name. No ref name begins like this, because ref names cannot contain a colon. */
const BASE64 = ':base64:';

/** Converts a ref name to text; base64 if it is not UTF-8. */
export function nameText(name: ByteString): string {
  return isUtf8(name) ? textOf(name) : BASE64 + Buffer.from(name, 'latin1').toString('base64');
}

export function nameOfText(text: string): ByteString {
  return text.startsWith(BASE64) ? bytesIn(Buffer.from(text.slice(BASE64.length), 'base64')) : bytesOf(text);
}
