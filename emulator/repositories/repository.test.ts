import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { writeCommit } from '../git/object/commit.js';
import { COMMIT, EMPTY_TREE_OID, ZERO_OID } from '../git/object/object.js';
import type { Head } from '../git/refs/refs.js';
import type { RepositoryState } from './lifecycle.js';
import type { Repository } from './repository.js';
import { createRepository, NOW } from './test/repository-at-home.js';

const ADA = { name: 'Ada', email: 'ada@example.com', seconds: 1, offset: '+0000' };
const MAIN = bytesOf('refs/heads/main');

/** Writes a first commit to `main`. Calls `meanwhile` during the transaction, to simulate a concurrent request. */
function seed(repository: Repository, meanwhile: () => void = () => undefined) {
  return repository.git.transact(async (transaction) => {
    const body = writeCommit({ tree: EMPTY_TREE_OID, parents: [], author: ADA, committer: ADA, message: 'm' });
    const commit = transaction.objects.write(COMMIT, body);
    transaction.update({ name: MAIN, old: ZERO_OID, new: commit });
    await transaction.prepare();
    meanwhile();
    return commit;
  });
}

t.test('a commit replaces refs and object count of the record, and notifies the world', async (t) => {
  const { repository, told } = createRepository();
  const tip = await seed(repository);
  const { refs, watermark } = repository.record;
  t.equal(refs.get(MAIN), tip);
  t.equal(refs.ref(MAIN)?.createdAt, NOW, 'by the clock of its home');
  t.equal(watermark, repository.content.objects.size);
  t.ok(watermark > 0);
  t.same(told, { moved: [{ name: MAIN, old: ZERO_OID, new: tip }], failed: [] });
  t.equal(repository.name, 'team/app');
  t.equal(repository.git.history, repository.content.history);
});

t.test('an error of the world while it is notified of a write is reported to it', async (t) => {
  const { repository, told } = createRepository({
    moved() {
      throw new Error('full');
    },
  });
  t.equal(await seed(repository), repository.record.refs.get(MAIN));
  t.match(told.failed, [{ message: 'full' }]);
});

t.test('a write to a deleted repository is refused', async (t) => {
  const { repository } = createRepository();
  const late = seed(repository, () => repository.update({ state: 'deleted' }));
  await t.rejects(late, { code: 'repository_not_found' }, 'while they write');
  await t.rejects(seed(repository), { code: 'repository_not_found' });
  t.equal(repository.record.refs.size, 0);
  for (const state of ['archived', 'thawing', 'syncing'] as const) {
    repository.update({ state });
    repository.requireWritable();
  }
});

t.test('a repository of a replaced world accepts no writes', async (t) => {
  const { repository } = createRepository({
    requireCurrent() {
      throw new Error('another world');
    },
  });
  t.throws(() => repository.requireWritable(), { message: 'another world' });
  await t.rejects(seed(repository), { message: 'another world' });
  t.equal(repository.record.refs.size, 0);
});

t.test('only an active repository is archived, and only an archived one is restored', async (t) => {
  const { repository } = createRepository();
  const after = (state: RepositoryState, change: () => void) => {
    repository.update({ state });
    change();
    return repository.record.state;
  };
  t.equal(
    after('active', () => repository.archive()),
    'archived',
  );
  t.equal(
    after('archived', () => repository.restore()),
    'active',
  );
  for (const state of ['deleted', 'thawing', 'syncing'] as const) {
    t.equal(
      after(state, () => repository.archive()),
      state,
    );
    t.equal(
      after(state, () => repository.restore()),
      state,
    );
  }
});

t.test('the default branch is the one HEAD points at, also while it is not born', async (t) => {
  const { repository } = createRepository();
  const pointTo = (head: Head) => repository.git.transact((transaction) => transaction.updateHead(head));
  t.equal(repository.defaultBranch, 'main');
  const tip = await seed(repository);
  await pointTo({ symref: bytesOf('refs/heads/team/next') });
  t.equal(repository.defaultBranch, 'team/next');
  for (const head of [{ oid: tip }, { symref: bytesOf('refs/tags/v1') }]) {
    await pointTo(head);
    t.equal(repository.defaultBranch, undefined, JSON.stringify(head));
  }
});
