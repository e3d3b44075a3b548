import { bytesOf } from '../object/bytes.js';
import { ObjectStore } from '../odb/object-store.js';
import { Refs } from '../refs/refs.js';
import { GitRepository } from '../repository/repository.js';
import { History } from '../revwalk/history.js';

const MAIN = bytesOf('main');

/**
 * Creates an empty repository in memory. Before each write, it calls `requireWritable`, which may throw to refuse the
 * write.
 */
export function createRepository(
  defaultBranch = MAIN,
  objects = new ObjectStore(),
  requireWritable: () => void = () => undefined,
): GitRepository {
  let refs = Refs.empty(defaultBranch);
  return new GitRepository(objects, new History(objects), {
    read: () => refs,
    swap(next) {
      refs = next;
    },
    now: () => 1_700_000_000_000,
    requireWritable,
    failed(error) {
      throw error;
    },
  });
}
