import { COST } from '../../schedule/cost.js';
import type { Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import type { ByteString } from '../object/bytes.js';
import { hidesDotName, isDotName } from '../object/dot-names.js';
import { MalformedObject } from '../object/malformed-object.js';
import type { Oid } from '../object/object.js';
import { fileType, MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from '../object/tree.js';
import { TreeCursor } from '../object/tree-cursor.js';
import { type Finding, finding, type MessageId } from './messages.js';
import { EntryOrder } from './tree-order.js';

/** Number of bytes of the tree object checked between two yields to the event loop. */
const PIECE = 16 * 1024;
const MAX_NAME_BYTES = requestLimit('fsckNameBytes');

/** Kinds of findings about a tree, with their messages. Git reports each kind at most once, in this order. */
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

/** Callback for each `.gitmodules` or `.gitattributes` file, because its content must be checked too. */
export type SpecialFile = (kind: 'gitmodules' | 'gitattributes', oid: Oid) => void;

/**
 * Checks the body of a tree object as `git fsck` does, and returns all findings. Names are compared as bytes;
 * converting each name to a string would be slow.
 */
export function checkTree(body: Buffer, found: SpecialFile): Steps<readonly Finding[]> {
  return new TreeCheck(body, found).run();
}

/**
 * Checks only the changed parts of a tree that otherwise equals a tree without findings. `changed` contains the start
 * and end of each changed byte range, including the adjacent entries. Returns true if the tree has no findings. Returns
 * false if the whole tree must be checked to decide this.
 */
export function isStillRight(body: Buffer, changed: Int32Array, found: SpecialFile): boolean {
  return new TreeCheck(body, found).hasNoFindingIn(changed);
}

/** Items of `TREE_MESSAGES` in order. Findings are stored as a bit mask, in which bit `1 << n` stands for item n. */
const ROWS = Object.entries(TREE_MESSAGES) as [TreeMessage, string][];
const BITS = Object.fromEntries(ROWS.map(([id], row) => [id, 1 << row])) as Record<TreeMessage, number>;
const {
  badTree,
  nullSha1,
  fullPathname,
  hasDot,
  hasDotdot,
  hasDotgit,
  zeroPaddedFilemode,
  badFilemode,
  largePathname,
} = BITS;

const NONE: readonly Finding[] = [];

class TreeCheck {
  #flags = 0;
  #symlinks: Finding[] | undefined;
  #scan: TreeCursor;

  constructor(
    private readonly body: Buffer,
    private readonly found: SpecialFile,
  ) {
    this.#scan = new TreeCursor(body);
  }

  hasNoFindingIn(runs: Int32Array): boolean {
    for (let run = 0; run < runs.length; run += 2) {
      this.#scan = new TreeCursor(this.body, runs[run]!);
      const order = new EntryOrder(this.body);
      while (this.#scan.position < runs[run + 1]! && this.#scan.next()) this.#checkEntry(order);
      if (this.#flags !== 0 || this.#symlinks !== undefined || order.isFarReaching) return false;
    }
    return true;
  }

  *run(): Steps<readonly Finding[]> {
    try {
      yield* this.#checkEntries();
    } catch (error) {
      if (!(error instanceof MalformedObject)) throw error;
      this.#flags |= badTree;
    }
    const symlinks = this.#symlinks ?? NONE;
    if (this.#flags === 0) return symlinks;
    const rows = ROWS.filter(([id]) => (this.#flags & BITS[id]) !== 0);
    return [...symlinks, ...rows.map(([id, text]) => finding(id, text))];
  }

  *#checkEntries(): Steps<void> {
    const scan = this.#scan;
    const order = new EntryOrder(this.body);
    let seen = 0;
    while (scan.next()) {
      if (scan.start - seen >= PIECE) {
        yield (scan.start - seen) * COST.byteScanned;
        seen = scan.start;
      }
      this.#checkEntry(order);
    }
  }

  #checkEntry(order: EntryOrder): void {
    const { body } = this;
    const scan = this.#scan;
    let flags = 0;
    if (body[scan.start] === 0x30) flags |= zeroPaddedFilemode;
    if (!isStandardMode(scan.mode)) flags |= badFilemode;
    if (body[scan.oidStart] === 0 && isZeroOid(body, scan.oidStart)) flags |= nullSha1;
    this.#checkName(scan.nameStart, scan.nameEnd);
    const issue = order.follow(scan.nameStart, scan.nameEnd, scan.mode === MODE_TREE || scan.isTree);
    if (issue !== undefined) flags |= BITS[issue];
    // Findings are rare, so the condition saves a write for almost every entry.
    if (flags !== 0) this.#flags |= flags;
  }

  #checkName(start: number, end: number): void {
    const { body } = this;
    const first = body[start]!;
    let isSpecial = first === 0x2e || first === 0xe2 || first === 0xef;
    for (let at = start; at < end; at++) {
      const byte = body[at];
      if (byte === 0x2f) this.#flags |= fullPathname;
      // A backslash or a tilde needs a closer look, because of Windows. A backslash separates folders there, so `.git`
      // may follow it. A tilde may belong to an 8.3 short name such as `GIT~1`.
      else if (byte === 0x5c || byte === 0x7e) isSpecial = true;
    }
    if (end - start > MAX_NAME_BYTES) this.#flags |= largePathname;
    else if (isSpecial) this.#checkSpecialName(this.#scan.name);
  }

  #checkSpecialName(name: ByteString): void {
    if (name === '.') this.#flags |= hasDot;
    else if (name === '..') this.#flags |= hasDotdot;
    else if (hidesDotName(name, 'git')) this.#flags |= hasDotgit;
    const isSymlink = fileType(this.#scan.mode) === MODE_SYMLINK;
    for (const kind of ['gitmodules', 'gitattributes', 'gitignore', 'mailmap'] as const) {
      // `.gitignore` and `.mailmap` are checked only as symbolic links, because their content is harmless.
      if (!isSymlink && (kind === 'gitignore' || kind === 'mailmap')) continue;
      // As in Git, the part after a backslash is examined only for `.gitmodules`, because this file names code to
      // fetch.
      if (!(kind === 'gitmodules' ? hidesDotName(name, kind) : isDotName(name, kind))) continue;
      if (isSymlink) {
        this.#symlinks ??= [];
        this.#symlinks.push(SYMLINK_FINDINGS[kind]);
      } else if (kind === 'gitmodules' || kind === 'gitattributes') this.found(kind, this.#scan.oid);
    }
  }
}

function isStandardMode(mode: number): boolean {
  return (
    mode === MODE_FILE ||
    mode === MODE_TREE ||
    mode === MODE_EXECUTABLE ||
    mode === MODE_SYMLINK ||
    mode === MODE_GITLINK
  );
}

function isZeroOid(body: Buffer, at: number): boolean {
  for (let index = at; index < at + 20; index++) {
    if (body[index] !== 0) return false;
  }
  return true;
}
