import { createHash } from 'node:crypto';

/**
 * Maximum length in bytes of a file or folder name in an export, which is the emulator's state as files. File systems
 * allow 255 bytes.
 */
const MAX_NAME = 180;

/**
 * Matches paths of an export that are not in the folder of a repository. A `--persist` folder (in which the emulator
 * saves its state) also contains lock files and drafts (`*.new`).
 */
const OUTSIDE = /^(?:emulator\.json|list-[0-9a-f]{40}\.json|lock[^/]*|[^/]*\.new)$/;

/** Returns true if an export, which is the emulator's state as files, can contain a file with this path. */
export function isStatePath(path: string): boolean {
  return OUTSIDE.test(path) || /\.git\//.test(path);
}

/**
 * Matches device names that Windows reserves, such as `con` and `com1`, with any extension. Windows cannot create such
 * files.
 */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * Returns the path of a repository's folder in an export: the organization's name, then the repository's, such as
 * `demo/team/app.git`. Keeps lower-case letters, digits and `-_.`; every other byte becomes `%` and two hexadecimal
 * digits.
 *
 * Therefore no two names collide on a file system that ignores case or normalizes Unicode, and no name leads outside of
 * the export. An encoded segment of more than `MAX_NAME` bytes is shortened and ends in the segment's SHA-256.
 */
export function repositoryFolder(organization: string, name: string): string {
  const segments = name.split('/');
  const last = segments.pop()!;
  const folders = segments.map((segment) => encodeSegment(segment).replace(/\.git$/, '%2egit'));
  return [encodeSegment(organization), ...folders, `${encodeSegment(last)}.git`].join('/');
}

function encodeSegment(segment: string): string {
  let name = '';
  for (const byte of Buffer.from(segment)) {
    const character = String.fromCharCode(byte);
    name += /[a-z0-9._-]/.test(character) ? character : escaped(byte);
  }
  if (name.length > MAX_NAME) {
    const digest = createHash('sha256').update(segment).digest('hex');
    name = `${name.slice(0, 100).replace(/%.?$/, '')}~${digest}`;
  }
  if (name.startsWith('.') || DEVICES.test(name)) name = escaped(name.charCodeAt(0)) + name.slice(1);
  return name.endsWith('.') ? `${name.slice(0, -1)}%2e` : name;
}

function escaped(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}
