import { type ByteString, bytesOf, concatBytes, textOf } from '../git/object/bytes.js';
import type { Identity } from '../git/object/identity.js';
import { type Oid, ZERO_OID } from '../git/object/object.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import { problem } from '../http/problem.js';
import { type CommitWritten, commitTo } from './commit-write.js';
import type { Repository } from './repository.js';
import { transact } from './transact.js';

/** Where ephemeral refs live: refs of their own on the same objects, as `gitnamespaces` lays them out. */
export const EPHEMERAL = bytesOf('refs/namespaces/ephemeral/');
const BRANCHES = bytesOf('refs/heads/');
const EPHEMERAL_BRANCHES = concatBytes(EPHEMERAL, BRANCHES);

/** The full ref name of a branch, in the normal or the ephemeral namespace. */
export function branchRef(name: ByteString, ephemeral: boolean): ByteString {
  return concatBytes(ephemeral ? EPHEMERAL_BRANCHES : BRANCHES, name);
}

/** One commit to be put on a branch. Branch names are byte strings, short and checked. */
export interface BranchWrite {
  readonly branch: ByteString;
  readonly ephemeral: boolean;
  /** Copied when the target does not exist. */
  readonly base?: { readonly branch: ByteString; readonly ephemeral: boolean } | undefined;
  /** What the target's tip has to be, or the base's when the target does not exist. */
  readonly expected?: Oid | undefined;
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
  /** Writes the new tree on top of `parent` (undefined: no commit yet) and names it. */
  readonly buildTree: (objects: Quarantine, parent: Oid | undefined) => Oid | Promise<Oid>;
}

/** Adds one commit to a branch, all or nothing: the tip is compared in the same turn in which the ref moves. */
export function writeToBranch(repository: Repository, write: BranchWrite): Promise<CommitWritten> {
  return transact(repository, (transaction) => {
    const { parent, old } = parentOf(repository, write);
    return commitTo(transaction, {
      ...write,
      ref: branchRef(write.branch, write.ephemeral),
      old,
      parents: parent === undefined ? [] : [parent],
      buildTree: (objects) => write.buildTree(objects, parent),
    });
  });
}

function parentOf(repository: Repository, write: BranchWrite): { parent: Oid | undefined; old: Oid } {
  const { refs } = repository.git;
  const tip = refs.get(branchRef(write.branch, write.ephemeral));
  if (tip !== undefined) {
    requireExpected(write, tip, `Branch ${textOf(write.branch)}`, tip);
    return { parent: tip, old: tip };
  }
  if (write.base) {
    const base = refs.get(branchRef(write.base.branch, write.base.ephemeral));
    if (base === undefined) throw notFound(write, `Base branch ${textOf(write.base.branch)} does not exist.`);
    requireExpected(write, base, `Base branch ${textOf(write.base.branch)}`, ZERO_OID);
    return { parent: base, old: ZERO_OID };
  }
  const isSeed = !write.ephemeral && write.branch === repository.defaultBranch && isEmpty(repository);
  if (!isSeed) throw notFound(write, `Branch ${textOf(write.branch)} does not exist.`);
  requireExpected(write, ZERO_OID, `Branch ${textOf(write.branch)}`, ZERO_OID);
  return { parent: undefined, old: ZERO_OID };
}

function isEmpty(repository: Repository): boolean {
  return repository.git.refs.entries(BRANCHES).next().done === true;
}

/** `tip`: where the target branch stands, which is zeros where there is none. */
function requireExpected(write: BranchWrite, actual: Oid, what: string, tip: Oid): void {
  if (write.expected === undefined || write.expected === actual) return;
  const detail = `${what} is at ${actual}, not at the expected ${write.expected}.`;
  throw problem('conflict', detail, { result: failedResult(write.branch, tip, detail) });
}

function notFound(write: BranchWrite, detail: string) {
  return problem('branch_not_found', detail, { result: failedResult(write.branch, ZERO_OID, detail) });
}

/** The write result of a write that did not happen. */
export function failedResult(branch: ByteString, tip: Oid, message: string): Record<string, unknown> {
  const name = textOf(branch);
  const shas = { old_sha: tip, new_sha: tip };
  return {
    commit: null,
    result: { branch: name, target_branch: name, ...shas, success: false, status: 'precondition_failed', message },
  };
}
