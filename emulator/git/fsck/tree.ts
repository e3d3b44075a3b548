import type { ByteString } from '../bytes.js';
import { hidesDotName, isDotName } from '../dot-names.js';
import { MalformedObject } from '../malformed-object.js';
import type { Oid } from '../object.js';
import { MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE, TreeScanner } from '../tree.js';
import { type Finding, finding, type MessageId } from './messages.js';
import { EntryOrder } from './tree-order.js';

/** Names longer than this are refused by Git 2.43 and later. */
const MOST_NAME_BYTES = 4096;

const STANDARD_MODES: ReadonlySet<number> = new Set([
  MODE_TREE,
  MODE_FILE,
  MODE_EXECUTABLE,
  MODE_SYMLINK,
  MODE_GITLINK,
]);

/** What Git says of a whole tree, once, and in this order. */
const TREE_MESSAGES = {
  badTree: 'cannot be parsed as a tree',
  nullSha1: 'contains entries pointing to null sha1',
  fullPathname: 'contains full pathnames',
  hasDot: "contains '.'",
  hasDotdot: "contains '..'",
  hasDotgit: "contains '.git'",
  zeroPaddedFilemode: 'contains zero-padded file modes',
  badFilemode: 'contains bad file modes',
  duplicateEntries: 'contains duplicate file entries',
  treeNotSorted: 'not properly sorted',
  largePathname: 'contains excessively large pathname',
} as const satisfies Partial<Record<MessageId, string>>;

type TreeMessage = keyof typeof TREE_MESSAGES;

const SYMLINK_FINDINGS = {
  gitmodules: finding('gitmodulesSymlink', '.gitmodules is a symbolic link'),
  gitattributes: finding('gitattributesSymlink', '.gitattributes is a symlink'),
  gitignore: finding('gitignoreSymlink', '.gitignore is a symlink'),
  mailmap: finding('mailmapSymlink', '.mailmap is a symlink'),
} as const;

/** Told of the files whose content Git checks as well. */
export type SpecialFile = (kind: 'gitmodules' | 'gitattributes', oid: Oid) => void;

/** Everything that is wrong with the body of a tree. Names are looked at as bytes; nearly none becomes a string. */
export function checkTree(body: Buffer, found: SpecialFile): Finding[] {
  const flags = new Set<TreeMessage>();
  const symlinks: Finding[] = [];
  const order = new EntryOrder(body);
  const scan = new TreeScanner(body);
  try {
    while (scan.next()) {
      if (body[scan.start] === 0x30) flags.add('zeroPaddedFilemode');
      if (!STANDARD_MODES.has(scan.mode)) flags.add('badFilemode');
      if (isZeroOid(body, scan.oidStart)) flags.add('nullSha1');
      checkName(scan, flags, symlinks, found);
      const fault = order.follow(scan.nameStart, scan.nameEnd, scan.isTree);
      if (fault) flags.add(fault);
    }
  } catch (error) {
    if (!(error instanceof MalformedObject)) throw error;
    flags.add('badTree');
  }
  if (flags.size === 0) return symlinks;
  const messages = Object.entries(TREE_MESSAGES) as [TreeMessage, string][];
  return [...symlinks, ...messages.filter(([id]) => flags.has(id)).map(([id, text]) => finding(id, text))];
}

function isZeroOid(body: Buffer, at: number): boolean {
  for (let index = at; index < at + 20; index++) {
    if (body[index] !== 0) return false;
  }
  return true;
}

function checkName(scan: TreeScanner, flags: Set<TreeMessage>, symlinks: Finding[], found: SpecialFile): void {
  const { body, nameStart, nameEnd } = scan;
  const first = body[nameStart]!;
  let special = first === 0x2e || first === 0xe2 || first === 0xef;
  for (let at = nameStart; at < nameEnd; at++) {
    const byte = body[at];
    if (byte === 0x2f) flags.add('fullPathname');
    // A backslash may hide a name of Git's, a tilde be part of its short form.
    else if (byte === 0x5c || byte === 0x7e) special = true;
  }
  if (nameEnd - nameStart > MOST_NAME_BYTES) flags.add('largePathname');
  else if (special) checkSpecialName(scan, scan.name, flags, symlinks, found);
}

function checkSpecialName(
  scan: TreeScanner,
  name: ByteString,
  flags: Set<TreeMessage>,
  symlinks: Finding[],
  found: SpecialFile,
): void {
  if (name === '.') flags.add('hasDot');
  else if (name === '..') flags.add('hasDotdot');
  else if (hidesDotName(name, 'git')) flags.add('hasDotgit');
  const isSymlink = (scan.mode & 0o170000) === MODE_SYMLINK;
  for (const kind of ['gitmodules', 'gitattributes', 'gitignore', 'mailmap'] as const) {
    // Git looks behind backslashes only for the one that names code to fetch.
    if (!(kind === 'gitmodules' ? hidesDotName(name, kind) : isDotName(name, kind))) continue;
    if (isSymlink) symlinks.push(SYMLINK_FINDINGS[kind]);
    else if (kind === 'gitmodules' || kind === 'gitattributes') found(kind, scan.oid);
  }
}
