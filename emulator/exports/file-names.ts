import { createHash } from 'node:crypto';

/** Maximum length of a file name in bytes. File systems allow 255. */
const MAX_NAME = 180;

/** Files of an export outside of repositories. A `--persist` folder also has a lock and drafts. */
const OUTSIDE = /^(?:emulator\.json|list-[0-9a-f]{40}\.json|lock[^/]*|[^/]*\.new)$/;

/** Returns true if a file of an export can have this path. */
export function isStatePath(path: string): boolean {
  return OUTSIDE.test(path) || /\.git\//.test(path);
}

/** Device names of Windows, with any extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * Returns the folder of a repository, below that of its organization: `team/app` is `team/app.git`. Lower-case letters,
 * digits and `-_.` are kept; every other byte becomes `%` and two hexadecimal digits. So no two names collide on a file
 * system that ignores case or normalizes text, and no name leaves the folder. A name that is too long ends in its
 * SHA-256.
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
