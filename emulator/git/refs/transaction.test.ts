import t from 'tap';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { bytesOf } from '../object/bytes.js';
import { writeCommit } from '../object/commit.js';
import { COMMIT, EMPTY_TREE_OID, MissingObject, TAG, ZERO_OID } from '../object/object.js';
import { ObjectStore } from '../odb/object-store.js';
import { oidOf } from '../odb/test/pack-builder.js';
import { GitRepository, type RepositoryHost } from '../repository/repository.js';
import { History } from '../revwalk/history.js';
import { oid } from '../test/oid.js';
import { type RefChange, RefTransactionFailed } from './ref-change.js';
import { Refs } from './refs.js';
import type { PrepareOptions, RefTransaction } from './transaction.js';

const who = { name: 'A', email: 'a@example.com', seconds: 1, offset: '+0000' };
const bodyOf = (message: string) =>
  writeCommit({ tree: EMPTY_TREE_OID, parents: [], author: who, committer: who, message });
const A = oidOf('commit', bodyOf('a'));
const B = oidOf('commit', bodyOf('b'));

/**
 * Creates a repository with the commits A and B. Its host (owner of the repository) records in `seen` how often the
 * refs were replaced, the changes, and errors.
 */
async function createRepository(overrides: Partial<RepositoryHost> = {}, objects = new ObjectStore()) {
  const seen = { swaps: 0, moved: [] as RefChange[], failures: [] as unknown[] };
  let refs = Refs.empty(bytesOf('main'));
  const host: RepositoryHost = {
    read: () => refs,
    swap(next) {
      seen.swaps++;
      refs = next;
    },
    now: () => 7,
    requireWritable: () => undefined,
    moved: (changes) => void seen.moved.push(...changes),
    failed: (error) => void seen.failures.push(error),
    ...overrides,
  };
  const quarantine = objects.quarantine();
  for (const message of ['a', 'b']) quarantine.write(COMMIT, bodyOf(message));
  await quarantine.checkConnectivity([A, B]);
  quarantine.publish();
  return { seen, objects, repository: new GitRepository(objects, new History(objects), host) };
}

type Made = Awaited<ReturnType<typeof createRepository>>;

const create = (name: string): RefChange => ({ name: bytesOf(`refs/heads/${name}`), old: ZERO_OID, new: A });
const remove = (name: string, old = A): RefChange => ({ name: bytesOf(`refs/heads/${name}`), old, new: ZERO_OID });

/**
 * Makes each ref change independently of the others. Returns the reason for each refusal, or undefined if the change
 * was made.
 */
function updateEach({ repository }: Pick<Made, 'repository'>, changes: readonly RefChange[], _?: PrepareOptions) {
  return repository.transact(async (transaction) => {
    for (const change of changes) transaction.update(change);
    return (await transaction.prepareEach()).map((conflict) => conflict?.issue);
  });
}

/** Makes all ref changes or none. Returns the conflict that prevented them, or undefined if they were made. */
async function updateAll(
  { repository }: Pick<Made, 'repository'>,
  changes: readonly RefChange[],
  options?: PrepareOptions,
) {
  try {
    await repository.transact(async (transaction) => {
      for (const change of changes) transaction.update(change);
      await transaction.prepare(options);
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof RefTransactionFailed)) throw error;
    return error.message;
  }
}

t.test('each update of a batch sees the results of the updates before it', async (t) => {
  const made = await createRepository();
  t.same(await updateEach(made, [create('a'), create('a/b'), create('c/d'), create('c')]), [
    undefined,
    'blocked',
    undefined,
    'blocked',
  ]);
  t.same(await updateEach(made, [create('a')]), ['stale'], 'it exists');
  t.same(
    await updateEach(made, [{ name: bytesOf('refs/heads/a'), old: A, new: B }, remove('a'), create('a/x')]),
    ['stale', undefined, undefined],
    'deletions come first, and what follows builds on them',
  );
  t.same(
    [...made.repository.refs.entries()].map(([name, { oid }]) => [name, oid]),
    [
      ['refs/heads/a/x', A],
      ['refs/heads/c/d', A],
    ],
  );
});

t.test('a conflict in an atomic transaction is reported with its ref, and no ref changes', async (t) => {
  const made = await createRepository();
  await updateEach(made, [create('a'), create('d/e')]);
  const before = made.repository.refs;
  const failures: readonly (readonly [RefChange[], string])[] = [
    [
      [create('b'), create('a/b')],
      "cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'",
    ],
    [[create('d')], "cannot lock ref 'refs/heads/d': 'refs/heads/d/e' exists; cannot create 'refs/heads/d'"],
    [[create('b'), remove('c')], "cannot lock ref 'refs/heads/c': unable to resolve reference 'refs/heads/c'"],
    [[create('a')], "cannot lock ref 'refs/heads/a': reference already exists"],
    [[remove('a', B)], `cannot lock ref 'refs/heads/a': is at ${A} but expected ${B}`],
    [[create('b'), create('b')], "multiple updates for ref 'refs/heads/b' not allowed"],
    [
      [create('p'), create('p/q')],
      "cannot lock ref 'refs/heads/p': cannot process 'refs/heads/p' and 'refs/heads/p/q' at the same time",
    ],
    [
      [remove('a'), create('a/x')],
      "cannot lock ref 'refs/heads/a/x': 'refs/heads/a' exists; cannot create 'refs/heads/a/x'",
    ],
    [
      [{ ...create('t'), new: EMPTY_TREE_OID }],
      `cannot update ref 'refs/heads/t': trying to write non-commit object ${EMPTY_TREE_OID} to branch 'refs/heads/t'`,
    ],
  ];
  for (const [changes, message] of failures) t.equal(await updateAll(made, changes), message);
  t.equal(made.repository.refs, before, 'not even a copy of the refs');
  t.equal(made.seen.swaps, 1);
  t.equal(
    await updateAll(made, [create('a/x'), remove('a')], { prune: true }),
    undefined,
    'unless what goes goes first',
  );
  t.same(
    [...made.repository.refs.entries()].map(([name]) => name),
    ['refs/heads/a/x', 'refs/heads/d/e'],
  );
});

t.test('refs are swapped once per batch, and not at all if nothing changed', async (t) => {
  const made = await createRepository();
  const { repository, seen } = made;
  const names = Array.from({ length: 500 }, (_, index) => `n/${index}`);
  t.ok((await updateEach(made, names.map(create))).every((issue) => issue === undefined));
  t.equal(seen.swaps, 1);
  t.equal(seen.moved.length, 500);
  const before = repository.refs;
  t.ok((await updateEach(made, names.map(create))).every((issue) => issue === 'stale'));
  t.same(await updateEach(made, []), []);
  t.equal(seen.swaps, 1);
  t.equal(repository.refs, before);
  t.equal(before.ref(bytesOf('refs/heads/n/7'))?.createdAt, 7);
});

t.test('refs in hundreds of nested folders are looked up in time slices', async (t) => {
  const folders = 'a/'.repeat(900);
  const stand = Array.from({ length: 100 }, (_, index) => create(`${folders}${index}`));
  const names = Array.from({ length: 100 }, (_, index) => create(`${folders}${'b/'.repeat(900)}${index}`));
  const prune = [...stand.map((change) => ({ ...change, old: A, new: ZERO_OID })), ...names];
  for (const update of [updateEach, updateAll]) {
    const schedule = new Schedule({ now: () => 0 });
    const made = await createRepository({}, new ObjectStore({ schedule }));
    const turnsOf = async (changes: readonly RefChange[]) => {
      let turns = 0;
      let isDone = false;
      const count = () => {
        turns++;
        if (!isDone) setImmediate(count);
      };
      setImmediate(count);
      await update(made, changes, { prune: true });
      isDone = true;
      return turns;
    };
    t.ok((await turnsOf(stand)) > 10);
    t.ok((await turnsOf(prune)) > 10);
    t.equal(made.repository.refs.size, 100);
    t.ok(schedule.longestSlice <= 2 * SLICE, `${schedule.longestSlice} units`);
  }
});

t.test('the host is notified only of refs that moved', async (t) => {
  const made = await createRepository();
  await updateEach(made, [create('a')]);
  made.seen.moved.length = 0;
  await updateEach(made, [
    { name: bytesOf('refs/heads/a'), old: A, new: A },
    { name: bytesOf('refs/heads/none'), old: ZERO_OID, new: ZERO_OID },
    { name: bytesOf('refs/heads/b'), old: ZERO_OID, new: B },
    { name: bytesOf('refs/heads/c'), old: B, new: A },
  ]);
  t.same(made.seen.moved, [{ name: 'refs/heads/b', old: ZERO_OID, new: B }]);
});

t.test('writers run in order of arrival, also after one that failed', async (t) => {
  const { repository } = await createRepository();
  const log: string[] = [];
  const first = repository.transact(async () => {
    log.push('first begins');
    await new Promise((resolve) => setImmediate(resolve));
    log.push('first fails');
    throw new Error('no');
  });
  const second = repository.transact(() => void log.push('second'));
  await t.rejects(first, /no/);
  await second;
  t.same(log, ['first begins', 'first fails', 'second']);
});

t.test('changes are invisible before the commit, and a failed transaction leaves nothing behind', async (t) => {
  const made = await createRepository();
  const { repository, objects } = made;
  const size = objects.size;
  const body = bodyOf('new');
  const attempt = (fail: () => void) =>
    repository.transact(async (transaction) => {
      transaction.update({ ...create('x'), new: transaction.objects.write(COMMIT, body) });
      await transaction.prepare();
      t.same([repository.refs.size, objects.size], [0, size], 'prepared, and not to be seen');
      fail();
    });
  await t.rejects(
    attempt(() => {
      throw new Error('late');
    }),
    /late/,
  );
  t.same([repository.refs.size, objects.size], [0, size]);
  await attempt(() => undefined);
  t.same([repository.refs.size, objects.size], [1, size + 1]);
});

t.test('HEAD and other planned changes take effect together with the commit', async (t) => {
  const { repository } = await createRepository();
  const head = { symref: bytesOf('refs/heads/a') };
  const seen: unknown[] = [];
  await repository.transact(async (transaction) => {
    transaction.update(create('a'));
    transaction.updateHead(head);
    transaction.alsoCommit(() => seen.push(repository.refs.head));
    await transaction.prepare();
    t.notSame(repository.refs.head, head, 'not before');
  });
  t.same(repository.refs.head, head);
  t.same(seen, [head], 'once, and behind the refs');
});

t.test('a transaction can be committed once, only after prepare and before its end', async (t) => {
  const { repository } = await createRepository();
  const kept: RefTransaction[] = [];
  await repository.transact((transaction) => {
    kept.push(transaction);
    transaction.update(create('a'));
    t.throws(() => transaction.commit(), { message: /not prepared/ });
  });
  const failing = repository.transact(async (transaction) => {
    kept.push(transaction);
    transaction.update(create('b'));
    await transaction.prepare();
    throw new Error('given up');
  });
  await t.rejects(failing, { message: 'given up' });
  const twice = repository.transact(async (transaction) => {
    transaction.update(create('c'));
    await transaction.prepare();
    transaction.commit();
  });
  await t.rejects(twice, { message: /is over/ });
  for (const transaction of kept) t.throws(() => transaction.commit(), { message: /is over/ });
  t.equal(repository.refs.get(bytesOf('refs/heads/b')), undefined);
});

t.test('a ref can name only objects that are present', async (t) => {
  const made = await createRepository();
  await t.rejects(updateAll(made, [{ ...create('a'), new: oid('1'.repeat(40)) }]), MissingObject);
  const size = made.objects.size;
  const dangling = made.repository.transact((transaction) => {
    const tag = transaction.objects.write(TAG, Buffer.from(`object ${'1'.repeat(40)}\ntype commit\ntag v\n\n`));
    transaction.update({ name: bytesOf('refs/tags/v'), old: ZERO_OID, new: tag });
  });
  await t.rejects(dangling, MissingObject);
  t.same([made.repository.refs.size, made.objects.size], [0, size]);
  t.equal(await updateAll(made, [{ name: bytesOf('refs/tags/t'), old: ZERO_OID, new: EMPTY_TREE_OID }]), undefined);
  t.equal(made.objects.typeOf(made.objects.find(EMPTY_TREE_OID)), 2, 'the empty tree is an object like any other');
});

t.test('a repository that is closed during a write refuses the write', async (t) => {
  let isOpen = true;
  const made = await createRepository({
    requireWritable() {
      if (!isOpen) throw new Error('closed');
    },
  });
  const size = made.objects.size;
  const writing = made.repository.transact(async (transaction) => {
    transaction.update({ ...create('x'), new: transaction.objects.write(COMMIT, bodyOf('new')) });
    await transaction.prepare();
    isOpen = false;
  });
  await t.rejects(writing, /closed/);
  t.same([made.repository.refs.size, made.objects.size], [0, size]);
});

t.test('a transaction fails if the refs were swapped outside it, and keeps that change', async (t) => {
  let refs = Refs.empty(bytesOf('main'));
  const { repository, objects } = await createRepository({
    read: () => refs,
    swap(next) {
      refs = next;
    },
  });
  const size = objects.size;
  const writing = repository.transact(async (transaction) => {
    transaction.update({ ...create('x'), new: transaction.objects.write(COMMIT, bodyOf('new')) });
    await transaction.prepare();
    refs = refs.with([[bytesOf('refs/heads/y'), A]], 0);
  });
  await t.rejects(writing, { message: /outside a transaction/ });
  t.same(
    [...refs.entries()].map(([name]) => name),
    ['refs/heads/y'],
  );
  t.equal(objects.size, size);
});

t.test('an error of the host does not fail a write that has taken effect', async (t) => {
  const made = await createRepository({
    moved() {
      throw new Error('told');
    },
  });
  const response = await made.repository.transact((transaction) => {
    transaction.update(create('a'));
    return 'done';
  });
  t.equal(response, 'done');
  t.equal(made.repository.refs.get(bytesOf('refs/heads/a')), A);
  t.same(made.seen.failures.map(String), ['Error: told']);
});
