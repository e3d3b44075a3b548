import { textOf } from '../git/object/bytes.js';
import { describeConflict, type RefConflict, RefTransactionFailed } from '../git/refs/ref-change.js';
import type { RefTransaction } from '../git/refs/transaction.js';
import type { TransactOptions } from '../git/repository/repository.js';
import { problem } from '../http/problem.js';
import type { Repository } from './repository.js';

/** As `GitRepository.transact`, for operations of the API: a ref that cannot change is a `conflict`. */
export async function transact<T>(
  repository: Repository,
  task: (transaction: RefTransaction) => T | Promise<T>,
  options: TransactOptions = {},
): Promise<T> {
  try {
    return await repository.git.transact(task, options);
  } catch (error) {
    if (error instanceof RefTransactionFailed) throw problem('conflict', sentenceOf(error.conflict));
    throw error;
  }
}

function sentenceOf(conflict: RefConflict): string {
  const { fault, change, current, other } = conflict;
  const name = textOf(change.name);
  if (other !== undefined) return `${name} cannot exist beside ${textOf(other)}.`;
  if (fault !== 'stale') return `${name} cannot change: ${describeConflict(conflict)}.`;
  return current === undefined ? `${name} does not exist any more.` : `${name} exists already, at ${current}.`;
}
