import t from 'tap';
import { History } from './history/history.js';
import { ZERO_OID } from './object.js';
import { Refs } from './refs.js';
import type { RefChange, RefUpdate } from './repository.js';
import { GitRepository } from './repository.js';
import { ObjectStore } from './store/object-store.js';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

/** A repository whose ref cell counts how often it is written. */
function createRepository() {
  const objects = new ObjectStore();
  const seen = { writes: 0, moved: [] as RefChange[] };
  let refs = Refs.empty('main');
  const cell = {
    get: () => refs,
    set: (next: Refs) => {
      seen.writes++;
      refs = next;
    },
  };
  const moved = (changes: readonly RefChange[]) => seen.moved.push(...changes);
  return { seen, repository: new GitRepository(objects, new History(objects), cell, () => 7, moved) };
}

const create = (name: string): RefUpdate => ({ name: `refs/heads/${name}`, old: ZERO_OID, new: A });
const remove = (name: string, old = A): RefUpdate => ({ name: `refs/heads/${name}`, old, new: ZERO_OID });

t.test('updates of one batch see those before them', async (t) => {
  const { repository } = createRepository();
  t.same(repository.updateRefs([create('a'), create('a/b'), create('c/d'), create('c')]), [
    'ok',
    'blocked',
    'ok',
    'blocked',
  ]);
  t.same(repository.updateRefs([create('a')]), ['stale'], 'it exists');
  t.same(
    repository.updateRefs([{ name: 'refs/heads/a', old: A, new: B }, remove('a'), create('a/x')]),
    ['stale', 'ok', 'ok'],
    'deletions come first, and what follows builds on them',
  );
  t.same(
    [...repository.refs.entries()].map(([name, { oid }]) => [name, oid]),
    [
      ['refs/heads/a/x', A],
      ['refs/heads/c/d', A],
    ],
  );
});

t.test('an atomic batch with one failure changes nothing, and says of each why', async (t) => {
  const { repository, seen } = createRepository();
  repository.updateRefs([create('a')]);
  const before = repository.refs;
  t.same(repository.updateRefs([create('b'), create('a/b'), remove('b', B)], { atomic: true }), [
    'aborted',
    'blocked',
    'stale',
  ]);
  t.equal(repository.refs, before, 'not even a copy of the refs');
  t.equal(seen.writes, 1);
});

t.test('refs are written once per batch, and not at all when nothing was done', async (t) => {
  const { repository, seen } = createRepository();
  const names = Array.from({ length: 500 }, (_, index) => `n/${index}`);
  t.ok(repository.updateRefs(names.map(create)).every((outcome) => outcome === 'ok'));
  t.equal(seen.writes, 1);
  t.equal(seen.moved.length, 500);
  const before = repository.refs;
  t.ok(repository.updateRefs(names.map(create)).every((outcome) => outcome === 'stale'));
  t.same(repository.updateRefs([]), []);
  t.equal(seen.writes, 1);
  t.equal(repository.refs, before);
  t.equal(before.ref('refs/heads/n/7')?.createdAt, 7);
});

t.test('who is told of moves hears only of refs that moved', async (t) => {
  const { repository, seen } = createRepository();
  repository.updateRefs([create('a')]);
  seen.moved.length = 0;
  repository.updateRefs([
    { name: 'refs/heads/a', new: A },
    { name: 'refs/heads/none', new: ZERO_OID },
    { name: 'refs/heads/b', new: B },
    { name: 'refs/heads/c', old: B, new: A },
  ]);
  t.same(seen.moved, [{ name: 'refs/heads/b', before: ZERO_OID, after: B }]);
});

t.test('writers take turns in order of arrival, whatever becomes of the one before', async (t) => {
  const { repository } = createRepository();
  const log: string[] = [];
  const first = repository.write(async () => {
    log.push('first begins');
    await new Promise((resolve) => setImmediate(resolve));
    log.push('first fails');
    throw new Error('no');
  });
  const second = repository.write(() => log.push('second'));
  await t.rejects(first, /no/);
  await second;
  t.same(log, ['first begins', 'first fails', 'second']);
});

t.test('a prepared update shows only when it is applied, and not after somebody else wrote', async (t) => {
  const { repository, seen } = createRepository();
  const { outcomes, apply } = await repository.prepareRefs([create('a'), create('a/b')]);
  t.same(outcomes, ['ok', 'blocked']);
  t.equal(repository.refs.size, 0);
  apply();
  t.same([repository.refs.size, seen.moved.length], [1, 1]);
  const late = await repository.prepareRefs([create('b')]);
  repository.updateRefs([create('c')]);
  t.throws(() => late.apply(), /moved by somebody/);
  t.equal(repository.refs.get('refs/heads/b'), undefined);
});
