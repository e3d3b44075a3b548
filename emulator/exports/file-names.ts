import { createHash } from 'node:crypto';

/** Bytes of the longest name of a file that is written; file systems take 255. */
const MOST_NAME = 180;

/** Files of an export beside its repositories; a folder that is kept also has a lock and drafts. */
const OUTSIDE = /^(?:emulator\.json|list-[0-9a-f]{40}\.json|lock[^/]*|[^/]*\.new)$/;

/** Returns whether a file of an export can have the path. */
export function isStatePath(path: string): boolean {
  return OUTSIDE.test(path) || /\.git\//.test(path);
}

/** Names that Windows gives to devices, with any extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * The folder of a repository below its organization's: `team/app` is `team/app.git`. Letters in lower case, digits and
 * `-_.` stand for themselves and every other byte as `%` and two digits, so that no two names are one on a file system
 * that passes over case or normalizes text, and none leaves the folder; a name that is too long ends in its SHA-256.
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
  if (name.length > MOST_NAME) {
    const digest = createHash('sha256').update(segment).digest('hex');
    name = `${name.slice(0, 100).replace(/%.?$/, '')}~${digest}`;
  }
  if (name.startsWith('.') || DEVICES.test(name)) name = escaped(name.charCodeAt(0)) + name.slice(1);
  return name.endsWith('.') ? `${name.slice(0, -1)}%2e` : name;
}

function escaped(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}
