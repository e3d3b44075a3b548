import t, { type Test } from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { readCommit } from '../git/object/commit.js';
import { BLOB, EMPTY_TREE_OID, type Oid, TREE, ZERO_OID } from '../git/object/object.js';
import type { RefChange } from '../git/refs/ref-change.js';
import { oid } from '../git/test/oid.js';
import { ScratchGit } from '../git/test/workbench.js';
import { Problem } from '../http/problem.js';
import { type BranchWrite, branchRef, commitOnto, findWriteBase, transact } from './branch-write.js';
import type { Repository } from './repository.js';
import { createRepository } from './test/repository-at-home.js';

const ADA = { name: 'Ada', email: 'ada@example.com', seconds: 1, offset: '+0000' };
const OTHER = oid('f'.repeat(40));

interface Wanted {
  readonly base?: string;
  readonly ephemeral?: boolean;
  readonly expected?: Oid;
}

function writeOf(branch: string, { base, ephemeral = false, expected }: Wanted = {}): BranchWrite {
  return {
    branch: bytesOf(branch),
    ephemeral,
    base: base === undefined ? undefined : { branch: bytesOf(base), ephemeral: false },
    expected,
    author: ADA,
    committer: ADA,
    message: 'm',
  };
}

/** Writes a commit with an empty tree to a branch. */
function commit(repository: Repository, branch: string, wanted?: Wanted) {
  const write = writeOf(branch, wanted);
  return transact(repository, (transaction) =>
    commitOnto(transaction, findWriteBase(repository, write), EMPTY_TREE_OID, write),
  );
}

/** Runs `task`, which must throw a `Problem`. Returns the code, the detail and the write result of the error. */
async function refusalOf(t: Test, task: () => unknown) {
  try {
    await task();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, detail: error.detail, result: error.options.result };
  }
  return t.fail('nothing refuses it');
}

t.test('the first commit creates the default branch, and later commits follow the tip', async (t) => {
  const { repository, told } = createRepository();
  const main = bytesOf('refs/heads/main');
  const first = await commit(repository, 'main');
  t.match(first, { old: ZERO_OID, tree: EMPTY_TREE_OID });
  const second = await commit(repository, 'main', { expected: first.commit });
  t.equal(second.old, first.commit);
  t.same(readCommit(repository.git.objects, second.commit).parents, [first.commit]);
  const topic = await commit(repository, 'topic', { base: 'main', expected: second.commit });
  t.equal(topic.old, ZERO_OID, 'a new branch was nowhere before');
  t.same(readCommit(repository.git.objects, topic.commit).parents, [second.commit]);
  t.same(told.moved, [
    { name: main, old: ZERO_OID, new: first.commit },
    { name: main, old: first.commit, new: second.commit },
    { name: 'refs/heads/topic', old: ZERO_OID, new: topic.commit },
  ]);
});

t.test('a write starts from the files of its parent, or from none', async (t) => {
  const { repository } = createRepository();
  const start = findWriteBase(repository, writeOf('main'));
  t.same(start, { ref: 'refs/heads/main', old: ZERO_OID, parent: undefined, tree: EMPTY_TREE_OID });
  const write = writeOf('main');
  const { commit, tree } = await transact(repository, async (transaction) => {
    const blob = transaction.objects.write(BLOB, Buffer.from('hello\n'));
    const tree = transaction.objects.write(TREE, treeOf([blob]));
    return commitOnto(transaction, start, tree, write);
  });
  t.same(findWriteBase(repository, write), { ref: 'refs/heads/main', old: commit, parent: commit, tree });
});

t.test('the error for an unexpected branch tip has the actual tip', async (t) => {
  const { repository } = createRepository();
  const resultAt = (branch: string, tip: Oid, message: string) => ({
    commit: null,
    result: {
      branch,
      target_branch: branch,
      old_sha: tip,
      new_sha: tip,
      success: false,
      status: 'precondition_failed',
      message,
    },
  });
  const refused = async (code: string, detail: string, branch: string, tip: Oid, wanted?: Wanted) => {
    const response = await refusalOf(t, () => commit(repository, branch, wanted));
    t.same(response, { code, detail, result: resultAt(branch, tip, detail) });
  };
  const atZero = `Branch main is at ${ZERO_OID}, not at the expected ${OTHER}.`;
  await refused('conflict', atZero, 'main', ZERO_OID, { expected: OTHER });
  await refused('branch_not_found', 'Branch topic does not exist.', 'topic', ZERO_OID);
  await refused('branch_not_found', 'Branch main does not exist.', 'main', ZERO_OID, { ephemeral: true });
  const { commit: tip } = await commit(repository, 'main', { expected: ZERO_OID });
  const atTip = `ranch main is at ${tip}, not at the expected ${OTHER}.`;
  await refused('conflict', `B${atTip}`, 'main', tip, { expected: OTHER });
  await refused('conflict', `Base b${atTip}`, 'topic', ZERO_OID, { base: 'main', expected: OTHER });
  await refused('branch_not_found', 'Base branch none does not exist.', 'topic', ZERO_OID, { base: 'none' });
  await commit(repository, 'topic', { base: 'main' });
  await transact(repository, (transaction) => {
    transaction.update({ name: bytesOf('refs/heads/main'), old: tip, new: ZERO_OID });
  });
  await refused('branch_not_found', 'Branch main does not exist.', 'main', ZERO_OID);
  t.same(
    [...repository.git.refs.entries()].map(([name]) => name),
    ['refs/heads/topic'],
  );
});

t.test('an ephemeral branch is another ref on the same objects', async (t) => {
  const { repository } = createRepository();
  const { commit: tip } = await commit(repository, 'main');
  const { commit: draft } = await commit(repository, 'main', { ephemeral: true, base: 'main' });
  t.same(
    [...repository.git.refs.entries()].map(([name, { oid }]) => [name, oid]),
    [
      ['refs/heads/main', tip],
      ['refs/namespaces/ephemeral/refs/heads/main', draft],
    ],
  );
  t.equal(branchRef(bytesOf('a/b'), true), 'refs/namespaces/ephemeral/refs/heads/a/b');
});

t.test('a ref that cannot change is a conflict, in a sentence that says why', async (t) => {
  const { repository } = createRepository();
  const { commit: tip } = await commit(repository, 'main');
  const main = bytesOf('refs/heads/main');
  const none = bytesOf('refs/heads/none');
  const cases: readonly (readonly [RefChange[], string])[] = [
    [[{ name: main, old: ZERO_OID, new: tip }], `refs/heads/main already exists at ${tip}.`],
    [[{ name: none, old: tip, new: ZERO_OID }], 'refs/heads/none was deleted while the request was in progress.'],
    [
      [{ name: bytesOf('refs/heads/main/x'), old: ZERO_OID, new: tip }],
      'refs/heads/main/x cannot exist beside refs/heads/main.',
    ],
    [
      [{ name: none, old: ZERO_OID, new: EMPTY_TREE_OID }],
      `refs/heads/none cannot change: cannot update ref 'refs/heads/none': trying to write non-commit object ${EMPTY_TREE_OID} to branch 'refs/heads/none'.`,
    ],
  ];
  for (const [changes, detail] of cases) {
    const response = await refusalOf(t, () =>
      transact(repository, (transaction) => {
        for (const change of changes) transaction.update(change);
      }),
    );
    t.same(response, { code: 'conflict', detail, result: undefined });
  }
  await t.rejects(
    transact(repository, () => {
      throw new RangeError('mine');
    }),
    { name: 'RangeError', message: 'mine' },
    'what else fails stays what it is',
  );
});

t.test('pack_bytes is the size of an uncompressed pack of the new objects', async (t) => {
  using git = new ScratchGit();
  const { repository } = createRepository();
  // Overhead in bytes of a zlib stream with one stored block: stream header, block header and checksum.
  const STORED = 2 + 5 + 4;
  // Write files of different sizes, some of them twice. `packBytes` must count only objects that are new in the
  // repository.
  const sizes = [undefined, undefined, 0, 1, 15, 16, 17, 127, 128, 2047, 2048, 2049, 10_000, 10_000];
  let base = 0;
  for (const size of sizes) {
    const write = writeOf('main');
    const written = await transact(repository, (transaction) => {
      const { objects } = transaction;
      const file = size === undefined ? undefined : objects.write(BLOB, Buffer.alloc(size, 'a'));
      const tree = file === undefined ? EMPTY_TREE_OID : objects.write(TREE, treeOf([file]));
      return commitOnto(transaction, findWriteBase(repository, write), tree, write);
    });
    const { objects } = repository.git;
    git.copy(objects);
    const ids = Array.from({ length: objects.size - base }, (_, index) => objects.oidOf(base + index));
    base = objects.size;
    const pack = git.try(['-c', 'pack.compression=0', 'pack-objects', '--stdout', '-q', '--window=0'], ids.join('\n'));
    t.equal(
      written.packBytes,
      pack.stdout.length - STORED * ids.length,
      size === undefined ? 'no file' : `a file of ${size} bytes`,
    );
  }
});

/** Returns the body of a Git tree with one file for each blob. */
function treeOf(blobs: readonly Oid[]): Buffer {
  return Buffer.concat(
    blobs.flatMap((blob, index) => [Buffer.from(`100644 f${index}\0`, 'latin1'), Buffer.from(blob, 'hex')]),
  );
}
