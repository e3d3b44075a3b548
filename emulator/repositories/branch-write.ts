import type { CodeVariant } from '../config/variants.js';
import { type ByteString, bytesOf, concatBytes, textOf } from '../git/object/bytes.js';
import { readCommit, writeCommit } from '../git/object/commit.js';
import type { Identity } from '../git/object/identity.js';
import { COMMIT, EMPTY_TREE_OID, type ObjectReader, type Oid, ZERO_OID } from '../git/object/object.js';
import { LONGEST_HEADER, writeTypeAndSize } from '../git/pack/entry-header.js';
import { describeConflict, type RefConflict, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import type { TransactOptions } from '../git/repository/repository.js';
import { problem, translateError } from '../http/problem.js';
import type { Repository } from './repository.js';

/**
 * Prefix of the refs of ephemeral branches, in the form that `gitnamespaces` uses. These branches share the objects of
 * the repository. They are visible only to API requests with `ephemeral: true`, and through a separate Git remote.
 */
export const EPHEMERAL = bytesOf('refs/namespaces/ephemeral/');
const BRANCHES = bytesOf('refs/heads/');
const EPHEMERAL_BRANCHES = concatBytes(EPHEMERAL, BRANCHES);
/** Size of a pack without its entries, in bytes: the header and the checksum. */
const PACK_BYTES = 12 + 20;

/**
 * Returns the full ref name of a branch, such as `refs/heads/main`. The ref name of an ephemeral branch begins with
 * `EPHEMERAL`.
 */
export function branchRef(name: ByteString, ephemeral: boolean): ByteString {
  return concatBytes(ephemeral ? EPHEMERAL_BRANCHES : BRANCHES, name);
}

/**
 * Runs `task` in a ref transaction of the repository, like `GitRepository.transact`. Throws the API error `conflict` if
 * a ref cannot be changed, for example because another request moved it.
 */
export function transact<T>(
  repository: Repository,
  task: (transaction: RefTransaction) => T | Promise<T>,
  options: TransactOptions = {},
): Promise<T> {
  return translateError(
    RefTransactionFailed,
    () => repository.git.transact(task, options),
    ({ conflict }) => problem('conflict', sentenceOf(conflict)),
  );
}

function sentenceOf(conflict: RefConflict): string {
  const { issue, change, current, other } = conflict;
  const name = textOf(change.name);
  if (other !== undefined) return `${name} cannot exist beside ${textOf(other)}.`;
  if (issue !== 'stale') return `${name} cannot change: ${describeConflict(conflict)}.`;
  return current === undefined
    ? `${name} was deleted while the request was in progress.`
    : `${name} already exists at ${current}.`;
}

/**
 * Request to write one commit to a branch. The branch names are short, validated, and strings with one character per
 * byte.
 */
export interface BranchWrite {
  readonly branch: ByteString;
  readonly ephemeral: boolean;
  /**
   * Branch from which a missing target branch is created: its tip becomes the parent of the commit. If undefined, the
   * target branch must exist.
   */
  readonly base?: { readonly branch: ByteString; readonly ephemeral: boolean } | undefined;
  /**
   * Commit that the client expects as the tip of the target branch. If the target branch does not exist, it is compared
   * with the tip of the base branch. Undefined if the client accepts any tip.
   */
  readonly expected?: Oid | undefined;
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
}

/** State of a branch just before a commit is written to it. */
export interface WriteBase {
  readonly ref: ByteString;
  /** Current tip of the ref; all zeros if the ref does not exist. */
  readonly old: Oid;
  /** Parent of the new commit; undefined if the new commit is the first in the repository. */
  readonly parent: Oid | undefined;
  /** Root tree of the parent. The empty tree if there is no parent. */
  readonly tree: Oid;
}

/**
 * Returns the state of the branch before the write. Call it in the transaction that moves the ref, so that no other
 * request changes the branch in between. Throws if the branch does not exist, or if its tip is not the one that the
 * client expects.
 */
export function findWriteBase(repository: Repository, write: BranchWrite): WriteBase {
  const { parent, old } = parentOf(repository, write);
  const tree = parent === undefined ? EMPTY_TREE_OID : readCommit(repository.git.objects, parent).tree;
  return { ref: branchRef(write.branch, write.ephemeral), old, parent, tree };
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
    if (base === undefined)
      throw notFound(write, 'missingBaseBranch', `Base branch ${textOf(write.base.branch)} does not exist.`);
    requireExpected(write, base, `Base branch ${textOf(write.base.branch)}`, ZERO_OID);
    return { parent: base, old: ZERO_OID };
  }
  const isSeed = !write.ephemeral && write.branch === repository.defaultBranch && isEmpty(repository);
  if (!isSeed) throw notFound(write, 'missingTargetBranch', `Branch ${textOf(write.branch)} does not exist.`);
  requireExpected(write, ZERO_OID, `Branch ${textOf(write.branch)}`, ZERO_OID);
  return { parent: undefined, old: ZERO_OID };
}

function isEmpty(repository: Repository): boolean {
  return repository.git.refs.entries(BRANCHES).next().done === true;
}

/**
 * Throws `conflict` if the client did not expect the tip `actual` of the target branch or its base. The error body
 * shows `tip`: the tip of the target branch, or all zeros if the branch does not exist.
 */
function requireExpected(write: BranchWrite, actual: Oid, what: string, tip: Oid): void {
  if (write.expected === undefined || write.expected === actual) return;
  const detail = `${what} is at ${actual}, not at the expected ${write.expected}.`;
  throw problem('conflict', detail, { result: failedResult(write.branch, tip, detail) });
}

function notFound(write: BranchWrite, variant: CodeVariant, detail: string) {
  return problem('branch_not_found', detail, { variant, result: failedResult(write.branch, ZERO_OID, detail) });
}

/**
 * Returns the response body of a failed write. There is no commit, and both `old_sha` and `new_sha` are the unchanged
 * tip.
 */
export function failedResult(branch: ByteString, tip: Oid, message: string): Record<string, unknown> {
  const name = textOf(branch);
  const shas = { old_sha: tip, new_sha: tip };
  return {
    commit: null,
    result: { branch: name, target_branch: name, ...shas, success: false, status: 'precondition_failed', message },
  };
}

/** Commit to write, and the ref to move to it. */
export interface CommitPlan {
  readonly ref: ByteString;
  /** Current tip of the ref; all zeros if the ref does not exist. */
  readonly old: Oid;
  readonly parents: readonly Oid[];
  readonly tree: Oid;
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
}

/** Facts about a written commit, for the response. */
export interface CommitWritten {
  readonly commit: Oid;
  readonly tree: Oid;
  /** Previous tip of the ref; all zeros if the ref did not exist. */
  readonly old: Oid;
  /** Size, in bytes, that a pack of the new objects would have without compression. */
  readonly packBytes: number;
}

/**
 * Writes a commit object and moves a ref to it. Other requests see both only after the transaction has been committed.
 */
export async function commitTo(transaction: RefTransaction, plan: CommitPlan): Promise<CommitWritten> {
  const { objects } = transaction;
  const commit = objects.write(COMMIT, writeCommit(plan));
  transaction.update({ name: plan.ref, old: plan.old, new: commit });
  await transaction.prepare();
  return { commit, tree: plan.tree, old: plan.old, packBytes: bytesOfNew(objects, objects.base) };
}

/**
 * Writes a commit with the root tree `tree` on top of a branch, and moves the branch to it. Otherwise like `commitTo`.
 */
export function commitOnto(
  transaction: RefTransaction,
  { ref, old, parent }: WriteBase,
  tree: Oid,
  { author, committer, message }: BranchWrite,
): Promise<CommitWritten> {
  const parents = parent === undefined ? [] : [parent];
  return commitTo(transaction, { ref, old, parents, tree, author, committer, message });
}

/**
 * Returns the size in bytes of an uncompressed pack of the transaction's new objects. An object is new if its number
 * (index into the object store) is at least `base`.
 */
function bytesOfNew(objects: ObjectReader, base: number): number {
  const header = Buffer.alloc(LONGEST_HEADER);
  let sum = PACK_BYTES;
  for (let number = base; number < objects.size; number++) {
    const size = objects.sizeOf(number);
    sum += writeTypeAndSize(header, 0, objects.typeOf(number), size) + size;
  }
  return sum;
}
