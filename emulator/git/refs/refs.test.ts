import t from 'tap';
import { Refs } from './refs.js';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

t.test('a change leaves the refs it was made from as they were', async (t) => {
  const empty = Refs.empty('main');
  const one = empty.with([['refs/heads/main', A]], 5);
  const two = one.with(
    [
      ['refs/heads/main', B],
      ['refs/tags/v1', A],
    ],
    9,
  );
  t.equal(empty.size, 0);
  t.equal(one.get('refs/heads/main'), A);
  t.equal(two.headOid, B);
  t.equal(two.ref('refs/heads/main')?.createdAt, 5, 'a ref keeps its birth time when it moves');
  t.equal(two.with([['refs/heads/main', undefined]], 9).headOid, undefined);
});

t.test('entries come in byte order and stop at the prefix', async (t) => {
  const refs = Refs.empty('main').with(
    [
      ['refs/heads/b', A],
      ['refs/heads/a\xff', A],
      ['refs/headsx', A],
      ['refs/heads/a', A],
    ],
    0,
  );
  t.same(
    [...refs.entries('refs/heads/')].map(([name]) => name),
    ['refs/heads/a', 'refs/heads/a\xff', 'refs/heads/b'],
  );
});

t.test('a name cannot be a ref and a folder of refs', async (t) => {
  const refs = Refs.empty('main').with(
    [
      ['refs/heads/a/b', A],
      ['refs/heads/c', A],
    ],
    0,
  );
  t.equal(refs.conflictWith('refs/heads/a'), 'refs/heads/a/b');
  t.equal(refs.conflictWith('refs/heads/c/d/e'), 'refs/heads/c');
  t.equal(refs.conflictWith('refs/heads/ab'), undefined);
  t.equal(refs.conflictWith('refs/heads/c'), undefined, 'a ref does not conflict with itself');
});
