import type { Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { BLOB, COMMIT, type ObjectReader, type Oid, TAG, TREE, type TypeCode } from '../object/object.js';
import { checkCommit } from './commit.js';
import { checkGitattributes } from './gitattributes.js';
import { checkGitmodules } from './gitmodules.js';
import { type Finding, finding, formatFinding, isRefused } from './messages.js';
import { checkTag } from './tag.js';
import { checkTree, isStillRight, type SpecialFile } from './tree.js';

/** Policy for received objects. `strict` refuses what Git refuses with `receive.fsckObjects`; `off` refuses nothing. */
export type FsckPolicy = 'strict' | 'off';

/** Error for an object that a server with strict checks refuses. The message has Git's wording. */
export class FsckError extends Error {
  override readonly name = 'FsckError';
  constructor(
    readonly oid: Oid,
    readonly findings: readonly Finding[],
  ) {
    super(findings.map((each) => formatFinding(oid, each)).join('\n'));
  }
}

/**
 * Kinds of files whose content is checked, each with its check and the limit for its size. Rules and messages are
 * Git's.
 */
const SPECIAL_FILES = {
  gitmodules: { check: checkGitmodules, limit: 'gitmodulesBytes' },
  gitattributes: { check: checkGitattributes, limit: 'gitattributesBytes' },
} as const;

type SpecialKind = keyof typeof SPECIAL_FILES;

/** Checks the objects of one push, as `git fsck` does, while they are received. */
export class Fsck {
  readonly #special: Record<SpecialKind, Set<Oid>> = { gitmodules: new Set(), gitattributes: new Set() };

  constructor(private readonly warn: (line: string) => void = () => undefined) {}

  /**
   * Checks one object, except the content of blobs. Returns true if there are no findings. Throws `FsckError`. `finish`
   * checks the blobs, because their file names are known only after all trees.
   *
   * `changed` is given for a tree that was received as a delta. It contains the byte ranges that differ from a tree
   * without findings.
   */
  *check(type: TypeCode, body: Buffer, oid: Oid, changed?: Int32Array): Steps<boolean> {
    if (changed !== undefined && isStillRight(body, changed, this.#noteSpecial)) return true;
    const findings = yield* this.#findings(type, body);
    if (findings.length > 0) this.#report(oid, findings);
    return findings.length === 0;
  }

  readonly #noteSpecial: SpecialFile = (kind, oid) => this.#special[kind].add(oid);

  *#findings(type: TypeCode, body: Buffer): Steps<readonly Finding[]> {
    switch (type) {
      case COMMIT: {
        const issue = yield* checkCommit(body);
        return issue ? [issue] : NONE;
      }
      case TREE:
        return yield* checkTree(body, this.#noteSpecial);
      case TAG:
        return checkTag(body);
      default:
        return NONE;
    }
  }

  /**
   * Checks the `.gitmodules` and `.gitattributes` files in all trees that `check` has seen. Files that were stored
   * before the push are included. Throws `FsckError`.
   */
  finish(objects: ObjectReader): void {
    for (const kind of ['gitmodules', 'gitattributes'] as const) {
      for (const oid of this.#special[kind]) this.#report(oid, checkSpecialFile(objects, kind, oid));
      this.#special[kind].clear();
    }
  }

  #report(oid: Oid, findings: readonly Finding[]): void {
    const refused = findings.filter(isRefused);
    for (const each of findings) if (!isRefused(each)) this.warn(formatFinding(oid, each));
    if (refused.length > 0) throw new FsckError(oid, refused);
  }
}

const NONE: readonly Finding[] = [];

function checkSpecialFile(objects: ObjectReader, kind: SpecialKind, oid: Oid): readonly Finding[] {
  const number = objects.find(oid);
  if (number < 0) return [finding(`${kind}Missing`, `unable to read .${kind} blob`)];
  if (objects.typeOf(number) !== BLOB) return [finding(`${kind}Blob`, `non-blob found at .${kind}`)];
  const { check, limit } = SPECIAL_FILES[kind];
  if (objects.sizeOf(number) > requestLimit(limit)) return [finding(`${kind}Large`, `.${kind} too large to parse`)];
  return check(objects.read(number));
}
