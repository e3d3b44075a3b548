import t from 'tap';
import { bytesIn } from '../object/bytes.js';
import { oid } from '../test/oid.js';
import { Refs } from './refs.js';

const A = oid('a'.repeat(40));
const B = oid('b'.repeat(40));
const bytes = (text: string) => bytesIn(Buffer.from(text, 'latin1'));

t.test('a change leaves the refs it was made from as they were', async (t) => {
  const empty = Refs.empty(bytes('main'));
  const one = empty.with([[bytes('refs/heads/main'), A]], 5);
  const two = one.with(
    [
      [bytes('refs/heads/main'), B],
      [bytes('refs/tags/v1'), A],
    ],
    9,
  );
  t.equal(empty.size, 0);
  t.equal(one.get(bytes('refs/heads/main')), A);
  t.equal(two.headOid, B);
  t.equal(two.ref(bytes('refs/heads/main'))?.createdAt, 5, 'a ref keeps its birth time when it moves');
  t.equal(two.with([[bytes('refs/heads/main'), undefined]], 9).headOid, undefined);
});

t.test('entries come in byte order and stop at the prefix', async (t) => {
  const refs = Refs.empty(bytes('main')).with(
    [
      [bytes('refs/heads/b'), A],
      [bytes('refs/heads/a\xff'), A],
      [bytes('refs/headsx'), A],
      [bytes('refs/heads/a'), A],
    ],
    0,
  );
  t.same(
    [...refs.entries(bytes('refs/heads/'))].map(([name]) => name),
    ['refs/heads/a', 'refs/heads/a\xff', 'refs/heads/b'],
  );
});

t.test('a name cannot be a ref and a folder of refs', async (t) => {
  const refs = Refs.empty(bytes('main')).with(
    [
      [bytes('refs/heads/a/b'), A],
      [bytes('refs/heads/c'), A],
    ],
    0,
  );
  t.equal(refs.conflictWith(bytes('refs/heads/a')), 'refs/heads/a/b');
  t.equal(refs.conflictWith(bytes('refs/heads/c/d/e')), 'refs/heads/c');
  t.equal(refs.conflictWith(bytes('refs/heads/ab')), undefined);
  t.equal(refs.conflictWith(bytes('refs/heads/c')), undefined, 'a ref does not conflict with itself');
});
