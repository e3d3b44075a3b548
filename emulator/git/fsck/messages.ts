import type { Oid } from '../object/object.js';

/**
 * Kinds of findings that `git fsck` has about the content of an object, with their severities (`git help fsck`, fsck
 * messages). A server with `receive.fsckObjects` refuses objects with any finding except `info`.
 */
export const MESSAGES = {
  nulInHeader: 'fatal',
  unterminatedHeader: 'fatal',
  badDate: 'error',
  badDateOverflow: 'error',
  badEmail: 'error',
  badName: 'error',
  badObjectSha1: 'error',
  badParentSha1: 'error',
  badTimezone: 'error',
  badTree: 'error',
  badTreeSha1: 'error',
  badType: 'error',
  duplicateEntries: 'error',
  gitattributesBlob: 'error',
  gitattributesLarge: 'error',
  gitattributesLineLength: 'error',
  gitattributesMissing: 'error',
  gitmodulesBlob: 'error',
  gitmodulesLarge: 'error',
  gitmodulesMissing: 'error',
  gitmodulesName: 'error',
  gitmodulesPath: 'error',
  gitmodulesSymlink: 'error',
  gitmodulesUpdate: 'error',
  gitmodulesUrl: 'error',
  missingAuthor: 'error',
  missingCommitter: 'error',
  missingEmail: 'error',
  missingNameBeforeEmail: 'error',
  missingObject: 'error',
  missingSpaceBeforeDate: 'error',
  missingSpaceBeforeEmail: 'error',
  missingTag: 'error',
  missingTagEntry: 'error',
  missingTree: 'error',
  missingType: 'error',
  missingTypeEntry: 'error',
  multipleAuthors: 'error',
  treeNotSorted: 'error',
  zeroPaddedDate: 'error',
  emptyName: 'warn',
  fullPathname: 'warn',
  hasDot: 'warn',
  hasDotdot: 'warn',
  hasDotgit: 'warn',
  largePathname: 'warn',
  nullSha1: 'warn',
  nulInCommit: 'warn',
  zeroPaddedFilemode: 'warn',
  badFilemode: 'info',
  badTagName: 'info',
  gitattributesSymlink: 'info',
  gitignoreSymlink: 'info',
  gitmodulesParse: 'info',
  mailmapSymlink: 'info',
  missingTaggerEntry: 'info',
} as const satisfies Record<string, 'fatal' | 'error' | 'warn' | 'info'>;

export type MessageId = keyof typeof MESSAGES;

export interface Finding {
  readonly id: MessageId;
  readonly message: string;
}

export function finding(id: MessageId, message: string): Finding {
  return { id, message };
}

/** Returns true if a server with `receive.fsckObjects` refuses an object for this finding. */
export function isRefused({ id }: Finding): boolean {
  return MESSAGES[id] !== 'info';
}

/** Returns the line that Git prints for a finding: `object <oid>: <id>: <message>`. */
export function formatFinding(oid: Oid, { id, message }: Finding): string {
  return `object ${oid}: ${id}: ${message}`;
}
