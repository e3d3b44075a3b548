import { createHash } from 'node:crypto';

/**
 * Maximum length in bytes of a file or folder name in an export (the state of the emulator as files). File systems
 * allow 255 bytes.
 */
const MAX_NAME = 180;

/**
 * Paths of the files of an export that are outside of the folders of repositories. A `--persist` folder (in which the
 * emulator saves its state) also contains lock files and drafts (`*.new`).
 */
const OUTSIDE = /^(?:emulator\.json|list-[0-9a-f]{40}\.json|lock[^/]*|[^/]*\.new)$/;

/** Returns true if an export (the state of the emulator as files) can contain a file with this path. */
export function isStatePath(path: string): boolean {
  return OUTSIDE.test(path) || /\.git\//.test(path);
}

/**
 * Device names that Windows reserves, such as `con` and `com1`, with any extension. Windows cannot create files with
 * these names.
 */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * Returns the path in an export of the folder that contains a repository: the organization's name, then the
 * repository's. `team/app` becomes `team/app.git`. Lower-case letters, digits and `-_.` are kept; every other byte
 * becomes `%` and two hexadecimal digits. Therefore no two names collide on a file system that ignores case or
 * normalizes Unicode, and no name is a path outside of the export. An encoded segment of more than `MAX_NAME` bytes is
 * shortened and ends in the segment's SHA-256.
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
